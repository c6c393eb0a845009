"""Retiring an algorithm: nothing is signed with it any more, and what was signed stays valid."""

import pytest

from audit.models import Entry
from oidc.applications.models import Application
from oidc.keys.models import SigningKey
from tests.support import management, operators, signing_keys
from tests.support.admin_pages import operate
from tests.support.independent import bearer, header_of, key_set, verified
from tests.support.management import refusal_of, result_of
from tests.support.threads import at_once, rounds

DISCOVERY = "/.well-known/openid-configuration"
RETIRE = "/signing-keys/retire"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def add(admin, algorithm="EdDSA"):
    return result_of(admin.post("/signing-keys/rotate", algorithm=algorithm))


def retire(admin, algorithm="EdDSA"):
    return admin.post(RETIRE, algorithm=algorithm)


def name(admin, client, **metadata):
    return admin.patch(f"/applications/{client.application.pk}", oidc_client_metadata=metadata)


def algorithms(world):
    return sorted(key["alg"] for key in key_set(world)["keys"])


class TestRetiring:
    def test_ends_its_use_and_keeps_the_tokens_until_the_key_is_deleted(self, acme, admin):
        key = add(admin)
        client = acme.application("Traditional")
        result_of(name(admin, client, id_token_signed_response_alg="EdDSA"))
        old = client.tokens_for(acme.user(), acme.browser())
        assert header_of(old["id_token"])["kid"] == key["id"]
        result_of(name(admin, client, id_token_signed_response_alg=""))

        retired = result_of(retire(admin))

        assert (retired["id"], retired["status"], retired["is_default"]) == (key["id"], "previous", False)
        assert "EdDSA" not in acme.get(DISCOVERY).json()["id_token_signing_alg_values_supported"]
        assert algorithms(acme) == ["ES256", "EdDSA"]
        assert verified(old["id_token"], key_set(acme))["aud"] == client.client_id
        assert header_of(client.refresh(old["refresh_token"]).json()["id_token"])["alg"] == "ES256"
        shown = result_of(admin.get(f"/signing-keys/{key['id']}"))
        assert shown["safe_to_delete_at"] == shown["last_token_expires_at"] is not None
        result_of(admin.delete(f"/signing-keys/{key['id']}"))
        assert algorithms(acme) == ["ES256"]
        assert add(admin)["id"] != key["id"]

    def test_is_in_the_audit_log(self, acme, admin):
        key = add(admin)

        result_of(retire(admin))

        entry = Entry.objects.get(tenant_id=acme.tenant.pk, key="SigningKey.Retire")
        assert entry.payload["kid"] == key["id"]
        assert entry.payload["algorithm"] == "EdDSA"

    def test_deletes_the_next_key_which_has_signed_nothing(self, acme, admin):
        key = add(admin)
        result_of(admin.post("/signing-keys/prepare", algorithm="EdDSA"))

        result_of(retire(admin))

        left = [row for row in result_of(admin.get("/signing-keys")) if row["algorithm"] == "EdDSA"]
        assert [(row["id"], row["status"]) for row in left] == [(key["id"], "previous")]

    def test_a_former_default_can_be_retired(self, acme, admin):
        result_of(admin.patch("/oidc-settings", default_signing_alg="EdDSA"))
        client, user = acme.application("Traditional"), acme.user()
        old = client.tokens_for(user, acme.browser())
        result_of(admin.patch("/oidc-settings", default_signing_alg="ES256"))

        result_of(retire(admin))

        assert header_of(old["access_token"])["alg"] == "EdDSA"
        assert client.userinfo(old["access_token"]).status_code == 200
        assert header_of(client.refresh(old["refresh_token"]).json()["access_token"])["alg"] == "ES256"

    def test_leaves_other_tenants_alone(self, acme, rival, admin):
        theirs = management.superuser(rival)
        add(admin)
        add(theirs)
        result_of(name(theirs, rival.application("Traditional"), id_token_signed_response_alg="EdDSA"))

        result_of(retire(admin))

        assert [key["status"] for key in result_of(theirs.get("/signing-keys"))] == ["active", "active"]


def errors_of(answer):
    assert answer.status_code == 400, answer.text
    return [(error["field"], error["code"], error["message"]) for error in answer.json()["errors"]]


class TestIsRefused:
    @pytest.mark.parametrize("field", ["id_token_signed_response_alg", "userinfo_signed_response_alg"])
    def test_while_an_application_names_it(self, acme, admin, field):
        client = acme.application("Traditional")
        result_of(name(admin, client, **{field: "EdDSA"}))

        [(named, code, rule)] = errors_of(retire(admin))

        assert (named, code) == ("algorithm", "conflict")
        assert f"{field} of the application “{client.application.name}”" in rule
        assert [key["status"] for key in result_of(admin.get("/signing-keys"))] == ["active", "active"]

    def test_while_an_api_resource_names_it(self, acme, admin):
        made = {"name": "Orders", "indicator": "https://orders.example", "access_token_signing_alg": "EdDSA"}
        result_of(admin.post("/resources", **made))

        [(_, _, rule)] = errors_of(retire(admin))

        assert "access_token_signing_alg of the API resource “Orders”" in rule

    def test_while_it_is_the_default(self, admin):
        result_of(admin.patch("/oidc-settings", default_signing_alg="EdDSA"))

        [(_, _, rule)] = errors_of(retire(admin))

        assert "default_signing_alg" in rule

    def test_for_es256_which_discovery_lists_everywhere(self, admin):
        result_of(admin.patch("/oidc-settings", default_signing_alg="EdDSA"))

        [(_, _, rule)] = errors_of(retire(admin, "ES256"))

        assert rule.startswith("ES256 stays")

    def test_without_a_key_or_a_body_or_a_known_name(self, acme, admin):
        add(admin, "PS256")

        assert errors_of(retire(admin)) == [
            ("algorithm", "conflict", "Has no active key: it was retired already, or never had one")
        ]
        for body in ({}, {"algorithm": ""}, {"algorithm": None}, {"algorithm": "none"}, {"algorithm": 5}):
            refusal_of(admin.post(RETIRE, **body), 400)
        assert algorithms(acme) == ["ES256", "PS256"]

    def test_for_an_application_with_another_token(self, acme, admin):
        add(admin)

        assert acme.post(f"/api/v1{RETIRE}", json={"algorithm": "EdDSA"}).status_code == 401
        token = acme.application("Traditional").tokens_for(acme.user(), acme.browser())["access_token"]
        answer = acme.post(f"/api/v1{RETIRE}", json={"algorithm": "EdDSA"}, headers=bearer(token))
        assert answer.status_code in {401, 403}


class TestAtTheSameMoment:
    def test_nothing_ever_names_an_algorithm_without_a_key(self, acme, admin):
        """An application or a resource is changed to name it, or it becomes the default."""
        client = acme.application("Traditional")
        made = result_of(admin.post("/resources", name="Orders", indicator="https://orders.example"))
        path = f"/resources/{made['id']}"
        changes = [
            lambda: name(admin, client, id_token_signed_response_alg="EdDSA"),
            lambda: admin.patch(path, access_token_signing_alg="EdDSA"),
            lambda: admin.patch("/oidc-settings", default_signing_alg="EdDSA"),
        ]

        for number in range(rounds(9)):
            add(admin)
            work = [changes[number % 3], lambda: retire(admin)]
            named, retired = at_once(2, lambda index, work=work: work[index]())

            assert named.status_code in {200, 503}
            assert retired.status_code in {200, 400}
            with acme.active():
                has_key = SigningKey.objects.active().filter(algorithm="EdDSA").exists()
                is_used = named.status_code == 200
            assert has_key or not is_used, "something names an algorithm without an active key"
            result_of(name(admin, client, id_token_signed_response_alg=""))
            result_of(admin.patch(path, access_token_signing_alg=""))
            result_of(admin.patch("/oidc-settings", default_signing_alg="ES256"))
            signing_keys.delete_previous(acme)


class TestOnTheOperatorsSite:
    def test_an_operator_retires_it_on_the_page_of_the_key(self, acme, admin):
        operator = operators.at(acme)
        key = add(admin)
        page = f"/admin/keys/signingkey/{key['id']}/change/"
        assert "Retire algorithm" in operator.get(page).text

        with acme.active():
            row = SigningKey.objects.get(pk=key["id"])
        done = operate(operator, "keys/signingkey", row, "retire")

        assert done.status_code == 303
        assert "EdDSA is retired." in operator.get(page).text
        assert "Retire algorithm" not in operator.get(page).text

    def test_the_refusal_says_what_names_it(self, acme, admin):
        operator, client = operators.at(acme), acme.application("Traditional")
        result_of(name(admin, client, id_token_signed_response_alg="EdDSA"))
        with acme.active():
            row = SigningKey.objects.get(algorithm="EdDSA")
            shop = Application.objects.get(pk=client.application.pk).name

        refused = operate(operator, "keys/signingkey", row, "retire")

        assert refused.status_code == 400
        assert f"id_token_signed_response_alg of the application “{shop}”" in refused.text

    def test_the_default_has_no_such_button(self, acme):
        operator = operators.at(acme)
        with acme.active():
            row = SigningKey.objects.default().get()

        assert "Retire algorithm" not in operator.get(f"/admin/keys/signingkey/{row.pk}/change/").text
