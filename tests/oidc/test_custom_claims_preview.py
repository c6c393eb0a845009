"""The preview of the claims that an application would get (decision P14)."""

import json

import pytest

from audit.models import Entry
from identity.organizations.models import Organization
from identity.users.models import User
from tests.support import management, third_parties
from tests.support.cast import RelyingParty
from tests.support.custom_claims import API, EVERYWHERE, claim, declare, new_ada
from tests.support.independent import claims_of
from tests.support.management import refusal_of, result_of
from tests.support.role_claims import join, told


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def ada(acme):
    return new_ada(acme)


def preview(admin, client, user, **asked):
    return admin.post(
        f"/applications/{client.application.pk}/claims-preview", **({"user_id": str(user.pk)} | asked)
    )


class TestPreview:
    VARYING = {
        *("iat", "exp", "jti", "sid", "at_hash", "auth_time", "amr", "nonce", "family_id"),
        *("consent_id", "epoch_hash"),
    }

    def test_decision_P14_each_claim_says_where_it_comes_from(self, acme, admin, ada):
        admin.created(
            "/resources", name="R", indicator=API, claims=["roles"],
            custom_claims=[claim("plan", "user.custom_data.plan", "access_token")],
        )  # fmt: skip
        client = declare(acme, admin, claim("env", {"value": "prod"}), claim("nick", "user.profile.nickname"))

        shown = result_of(preview(admin, client, ada, scope="openid email", resource=API))

        assert shown["id_token"]["email"] == {"value": "ada@acme.example", "source": "scope email"}
        assert shown["id_token"]["env"]["source"] == "custom claim of the application: a constant"
        assert shown["userinfo"]["nick"]["source"] == "custom claim of the application: user.profile.nickname"
        assert (
            shown["access_token"]["plan"]["source"] == "custom claim of the resource: user.custom_data.plan"
        )
        assert shown["access_token"]["roles"] == {"value": ["Editor"], "source": "claims of the resource"}
        assert shown["access_token"]["sub"] == {"value": str(ada.pk), "source": "protocol"}

    @pytest.mark.parametrize("is_third_party", [False, True])
    @pytest.mark.parametrize("is_for_organization", [False, True])
    @pytest.mark.parametrize("scope", ["openid", "openid profile address", "openid email roles groups phone"])
    def test_decision_P14_explained_claims_equal_issued_ones(  # noqa: PLR0913, PLR0917 - cases
        self, acme, admin, ada, scope, is_for_organization, is_third_party
    ):
        organization = join(acme, ada, "Globex", "Owner", metadata={"tier": "gold"})
        sources = [
            "user.email",
            "user.profile.nickname",
            "user.custom_data.plan",
            "roles",
            "organization.name",
        ]
        client = declare(
            acme, admin, *(claim(f"c{index}", source) for index, source in enumerate(sources)),
            is_third_party=is_third_party,
        )  # fmt: skip
        asked = {"scope": scope} | ({"organization_id": organization} if is_for_organization else {})

        shown = result_of(preview(admin, client, ada, **asked))

        issued = self.issue(acme, client, ada, asked)
        for place, claims in zip(EVERYWHERE, issued, strict=True):
            explained = {name: each["value"] for name, each in shown[place].items()}
            assert explained == {name: value for name, value in claims.items() if name not in self.VARYING}

    def issue(self, acme, client: RelyingParty, user, asked):
        if not client.application.is_third_party:
            return told(client, user, **asked)
        browser = acme.browser()
        browser.sign_in(user)
        tokens = third_parties.connect(browser, client, **asked)
        userinfo = client.userinfo(tokens["access_token"]).json()
        return claims_of(tokens["id_token"]), userinfo, claims_of(tokens["access_token"])

    def test_decision_P14_a_preview_issues_and_stores_nothing(self, acme, admin, ada):
        with acme.active():
            User.objects.filter(pk=ada.pk).update(custom_data={"big": "x" * 2000})
        client = declare(acme, admin, claim("big", "user.custom_data.big"))
        before = Entry.objects.filter(tenant_id=acme.tenant.pk).count()

        answer = preview(admin, client, ada, scope="openid profile")

        assert result_of(answer)["omitted"] == ["big"]
        assert answer.headers["Cache-Control"] == "no-store"
        assert "eyJ" not in answer.text
        assert Entry.objects.filter(tenant_id=acme.tenant.pk).count() == before

    def test_decision_P14_without_openid_there_is_an_access_token_alone(self, acme, admin, ada):
        shown = result_of(preview(admin, acme.application(), ada, scope="profile"))

        assert (shown["id_token"], shown["userinfo"]) == ({}, {})
        assert shown["access_token"]["scope"]["value"] == "profile"

    @pytest.mark.parametrize(
        ("asked", "place"),
        [
            ({"user_id": "x"}, "user_id"),
            ({"user_id": 7}, "user_id"),
            ({"user_id": None}, "user_id"),
            ({"user_id": ""}, "user_id"),
            ({"organization_id": "01890a5d-ac96-774b-bcce-b302099a8057"}, "organization_id"),
            ({"organization_id": ["x"]}, "organization_id"),
            ({"resource": "https://nowhere.example"}, "resource"),
            ({"resource": 7}, "resource"),
            ({"scope": 7}, "scope"),
            ({"scope": ["openid"]}, "scope"),
            ({"scope": "x" * 2049}, "scope"),
        ],
        ids=json.dumps,
    )
    def test_decision_P14_a_bad_field_is_refused_with_its_name(self, acme, admin, ada, asked, place):
        answer = preview(admin, acme.application(), ada, **asked)

        assert refusal_of(answer, 400).startswith(f"{place}: ")

    def test_decision_P14_another_tenants_ids_are_unknown(self, acme, rival, admin, ada):
        theirs, client = rival.user(), acme.application()
        with rival.active():
            organization = Organization.objects.create(name="Theirs")

        assert "user_id" in refusal_of(preview(admin, client, theirs), 400)
        answer = preview(admin, client, ada, organization_id=str(organization.pk))
        assert "organization_id" in refusal_of(answer, 400)
        refusal_of(preview(admin.at(rival), client, theirs), 404)

    def test_decision_P14_a_machine_application_has_no_users(self, acme, admin, ada):
        answer = preview(admin, acme.application("MachineToMachine"), ada)

        assert refusal_of(answer, 400).startswith("user_id: ")
