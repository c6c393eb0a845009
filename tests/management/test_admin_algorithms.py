"""Signature algorithms on the operators' site: keys, applications, API resources and the default."""

import html

from identity.resources.models import Resource
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from oidc.settings import services as settings
from tests.support import management
from tests.support.admin_pages import operate
from tests.support.independent import key_set
from tests.support.management import refusal_of, result_of

KEYS = "/admin/keys/signingkey/"


def algorithms(world):
    return [key["alg"] for key in key_set(world)["keys"]]


class TestSigningKeys:
    def test_a_key_of_another_algorithm_is_added(self, acme, rival, operator):
        form = operator.get(f"{KEYS}do/add/").text
        added = operate(operator, "keys/signingkey", None, "add", algorithm="RS256")
        again = operate(operator, "keys/signingkey", None, "add", algorithm="RS256")

        assert form.index("RS256") < form.index("ES256")
        assert added.status_code == again.status_code == 303
        assert sorted(algorithms(acme)) == ["ES256", "RS256"]
        assert algorithms(rival) == ["ES256"]
        page = operator.get(KEYS).text
        assert "RS256" in page
        with acme.active():
            row = SigningKey.objects.get(algorithm="RS256")
        shown = operator.get(f"{KEYS}{row.pk}/change/").text
        assert "RS256" in shown
        assert "Never while it is active" in shown

    def test_a_rotation_is_of_one_algorithm(self, acme, operator):
        operate(operator, "keys/signingkey", None, "add", algorithm="EdDSA")

        operate(operator, "keys/signingkey", None, "prepare", algorithm="EdDSA")
        operate(operator, "keys/signingkey", None, "rotate", algorithm="EdDSA")
        operate(operator, "keys/signingkey", None, "rotate")

        with acme.active():
            found = SigningKey.objects.values_list("algorithm", "status")
        assert sorted(found) == [
            *(("ES256", "active"), ("ES256", "previous")),
            *(("EdDSA", "active"), ("EdDSA", "previous")),
        ]

    def test_an_unknown_algorithm_is_refused(self, acme, operator):
        for name in ("add", "prepare", "rotate"):
            assert operate(operator, "keys/signingkey", None, name, algorithm="HS256").status_code == 400
        assert algorithms(acme) == ["ES256"]


class TestWhoNamesAnAlgorithm:
    def test_an_application_does(self, acme, operator):
        client = acme.application("Traditional")
        path = f"/admin/applications/application/{client.application.pk}"
        fields = {"name": "Shop", "redirect_uris": client.application.redirect_uris[0]}

        form = html.unescape(operator.get(f"{path}/do/change/").text)
        saved = operator.submit(
            f"{path}/do/change/",
            **fields,
            id_token_signed_response_alg="RS256",
            userinfo_signed_response_alg="PS256",
        )

        for name in (
            "Spring Security's login",
            "Vault",
            "OpenBao",
            "kube-apiserver",
            "NextAuth 4",
            "Directus",
        ):
            assert name in form
        assert saved.status_code == 303
        with acme.active():
            row = Application.objects.get(pk=client.application.pk)
        assert row.id_token_signed_response_alg == "RS256"
        assert row.userinfo_signed_response_alg == "PS256"
        assert sorted(algorithms(acme)) == ["ES256", "PS256", "RS256"]
        assert "RS256" in operator.get(f"{path}/change/").text

    def test_a_resource_does(self, acme, operator):
        admin = management.superuser(acme)
        made = result_of(admin.post("/resources", name="API", indicator="https://api.example"))

        operator.submit(
            f"/admin/resources/resource/{made['id']}/do/change/",
            name="API",
            access_token_ttl="600",
            access_token_signing_alg="EdDSA",
        )

        with acme.active():
            assert Resource.objects.get(pk=made["id"]).access_token_signing_alg == "EdDSA"
        assert sorted(algorithms(acme)) == ["ES256", "EdDSA"]

    def test_the_tenant_does(self, acme, rival, operator):
        with acme.active():
            row = settings.current()

        operate(operator, "oidc_settings/oidcsettings", row, "signing", default_signing_alg="RS256")

        with acme.active():
            assert SigningKey.objects.default().get().algorithm == "RS256"
            assert settings.current().default_signing_alg == "RS256"
        with rival.active():
            assert SigningKey.objects.default().get().algorithm == "ES256"


class TestTheApi:
    def test_a_resource_changes_its_algorithm_and_loses_it(self, acme, admin):
        made = result_of(admin.post("/resources", name="API", indicator="https://api.example"))
        path = f"/resources/{made['id']}"

        shown = result_of(admin.patch(path, access_token_signing_alg="RS256"))
        kept = result_of(admin.patch(path, name="The API"))
        without = result_of(admin.patch(path, access_token_signing_alg=None))

        assert made["access_token_signing_alg"] == without["access_token_signing_alg"] == ""
        assert shown["access_token_signing_alg"] == kept["access_token_signing_alg"] == "RS256"

    def test_an_application_is_registered_with_its_algorithm(self, acme, admin):
        metadata = {
            "redirect_uris": ["https://rp.example/callback"],
            "id_token_signed_response_alg": "RS256",
        }
        made = result_of(
            admin.post("/applications", name="Shop", type="Traditional", oidc_client_metadata=metadata)
        )
        path = f"/applications/{made['id']}"

        changed = result_of(admin.patch(path, oidc_client_metadata={"userinfo_signed_response_alg": "ES256"}))
        without = result_of(admin.patch(path, oidc_client_metadata={"id_token_signed_response_alg": ""}))

        assert made["oidc_client_metadata"]["id_token_signed_response_alg"] == "RS256"
        assert changed["oidc_client_metadata"]["id_token_signed_response_alg"] == "RS256"
        assert changed["oidc_client_metadata"]["userinfo_signed_response_alg"] == "ES256"
        assert without["oidc_client_metadata"]["id_token_signed_response_alg"] == ""

    def test_what_another_tenant_has_is_unknown(self, acme, rival, admin):
        theirs = management.superuser(rival)
        resource = result_of(theirs.post("/resources", name="API", indicator="https://api.example"))
        application = rival.application("Traditional").application.pk
        key = result_of(theirs.post("/signing-keys/rotate", algorithm="RS256"))
        metadata = {"id_token_signed_response_alg": "RS256"}

        refusal_of(admin.patch(f"/resources/{resource['id']}", access_token_signing_alg="RS256"), 404)
        refusal_of(admin.patch(f"/applications/{application}", oidc_client_metadata=metadata), 404)
        refusal_of(admin.get(f"/signing-keys/{key['id']}"), 404)

        assert algorithms(acme) == ["ES256"]
