"""Custom claims: their declarations and their values (decision P14)."""

from typing import Any

import pytest

from audit.models import Entry
from identity.users.models import User
from tests.support import management, third_parties
from tests.support.custom_claims import API, EVERYWHERE, claim, declare, new_ada
from tests.support.independent import claims_of
from tests.support.management import refusal_of, result_of
from tests.support.profiles import PROFILE
from tests.support.role_claims import join, told

RESERVED = [
    *(
        "iss",
        "sub",
        "aud",
        "exp",
        "nbf",
        "iat",
        "jti",
        "act",
        "cnf",
        "scope",
        "client_id",
        "sid",
        "family_id",
    ),
    *("organization_id", "organization_is_admin", "organization_roles", "organization_x", "organizations"),
    *("token_type", "userinfo_claims", "acr", "amr", "azp", "nonce", "auth_time", "at_hash"),
    *("email_verified", "preferred_username", "username", "picture", "gender", "updated_at", "phone_number"),
    *("phone_number_verified", "roles", "groups", "roles_truncated", "consent_id", "epoch_hash", "__proto__"),
    *("given_name", "address", "birthdate", "entitlements", "may_act", "name", "email"),
]
BAD_SOURCES: list[Any] = [
    *("", "user", "user.password", "user.epoch", "user.password_hash", "user.email_key", "user.tenant"),
    *("user.custom_data", "user.x.y", "user.custom_data.", "user.custom_data..a", "user.profile.a b"),
    *("user.custom_data.a.b.c.d.e.f", "organization.tenant", "application.metadata.x", "{{7*7}}"),
    *("user.custom_data." + "x" * 65, "user.__class__", "user.tenant.name", 7, None, [], {"value": None}),
    *({}, {"value": 1, "x": 2}, {"expression": "1"}, {"value": "x" * 1023}),
]
BAD_PLACES: list[Any] = [[], "id_token", ["refresh_token"], [1], None, {}]


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def ada(acme):
    return new_ada(acme)


class TestDeclarations:
    def test_decision_P14_an_application_has_none_at_first(self, admin):
        made = admin.created("/applications", name="Web", type="SPA")

        assert made["oidc_client_metadata"]["custom_claims"] == []

    def test_decision_P14_an_application_is_created_with_claims(self, admin):
        declared = [claim("plan", "user.custom_data.plan", "userinfo")]

        made = admin.created(
            "/applications", name="Web", type="SPA", oidc_client_metadata={"custom_claims": declared}
        )

        assert made["oidc_client_metadata"]["custom_claims"] == declared

    def test_decision_P14_a_resource_is_created_and_changed_with_claims(self, admin):
        declared = [claim("plan", "user.custom_data.plan", "access_token")]
        made = admin.created("/resources", name="R", indicator=API, claims=["roles"], custom_claims=declared)

        changed = result_of(admin.patch(f"/resources/{made['id']}", claims=["groups", "roles", "groups"]))

        assert (made["claims"], made["custom_claims"]) == (["roles"], declared)
        assert (changed["claims"], changed["custom_claims"]) == (["groups", "roles"], declared)

    @pytest.mark.parametrize("name", RESERVED)
    def test_decision_P14_reserved_names_are_refused(self, admin, acme, name):
        path = f"/applications/{acme.application().application.pk}"

        answer = admin.patch(path, oidc_client_metadata={"custom_claims": [claim(name, {"value": "x"})]})

        assert refusal_of(answer, 400) == "oidc_client_metadata.custom_claims.0.name: is reserved"

    @pytest.mark.parametrize("name", ["given_name", "birthdate", "address"])
    def test_decision_P14_a_claim_of_the_profile_is_called_so_with_its_own_value(
        self, acme, admin, ada, name
    ):
        client = declare(acme, admin, claim(name, f"user.profile.{name}", "id_token"))

        assert told(client, ada, scope="openid")[0][name] == PROFILE[name]

    @pytest.mark.parametrize(
        ("place", "bad"),
        [
            *(("name", value) for value in ("", "a b", "ü", "x" * 129, 7, None, 'a"')),
            *(("source", value) for value in BAD_SOURCES),
            *(("into", value) for value in BAD_PLACES),
        ],
        ids=lambda value: repr(value)[:40],
    )  # fmt: skip
    def test_decision_P14_a_bad_member_is_refused_with_its_place(self, acme, admin, place, bad):
        path = f"/applications/{acme.application().application.pk}"
        declared = claim("plan", "user.custom_data.plan") | {place: bad}

        answer = admin.patch(path, oidc_client_metadata={"custom_claims": [declared]})

        assert f"custom_claims.0.{place}" in refusal_of(answer, 400)

    @pytest.mark.parametrize("missing", ["name", "source", "into"])
    def test_decision_P14_every_member_is_required(self, acme, admin, missing):
        path = f"/applications/{acme.application().application.pk}"
        declared = claim("plan", "roles")
        del declared[missing]

        answer = admin.patch(path, oidc_client_metadata={"custom_claims": [declared]})

        assert f"custom_claims.0.{missing}: is required" in refusal_of(answer, 400)

    def test_decision_P14_names_are_declared_once_and_at_most_twenty(self, acme, admin):
        path = f"/applications/{acme.application().application.pk}"
        twice = [claim("plan", "roles"), claim("plan", "groups")]
        many = [claim(f"c{i}", "roles") for i in range(21)]

        for declared, place in ((twice, "custom_claims.1.name"), (many, "custom_claims")):
            answer = admin.patch(path, oidc_client_metadata={"custom_claims": declared})
            assert place in refusal_of(answer, 400)
        result_of(admin.patch(path, oidc_client_metadata={"custom_claims": many[:20]}))

    def test_decision_P14_claims_of_a_resource_are_for_access_tokens(self, admin):
        answer = admin.post(
            "/resources", name="R", indicator=API, custom_claims=[claim("plan", "roles", "id_token")]
        )

        assert "custom_claims.0.into" in refusal_of(answer, 400)

    @pytest.mark.parametrize("claims", ["roles", ["plan"], [1], None, {"roles": True}])
    def test_decision_P13_a_resource_asks_for_roles_and_groups_alone(self, admin, claims):
        answer = admin.post("/resources", name="R", indicator=API, claims=claims)

        assert "claims" in refusal_of(answer, 400)


class TestValues:
    @pytest.mark.parametrize(
        ("source", "value"),
        [
            ("user.username", "ada"),
            ("user.email", "ada@acme.example"),
            ("user.email_verified", False),
            ("user.given_name", "Ada"),
            ("user.avatar", "https://acme.example/a.png"),
            ("user.profile.address.country", "GB"),
            ("user.profile.address", PROFILE["address"]),
            ("user.custom_data.plan", "gold"),
            ("user.custom_data.a.b.c.d.e", 5),
            ("user.custom_data.list", [{"x": 1}]),
            ("roles", ["Editor"]),
            ("groups", ["Editor"]),
            ({"value": {"tier": [1, True]}}, {"tier": [1, True]}),
            ({"value": 0}, 0),
            ({"value": False}, False),
        ],
        ids=str,
    )
    def test_decision_P14_a_source_has_its_value_in_each_place(self, acme, admin, ada, source, value):
        client = declare(acme, admin, claim("https://acme.example/x", source))

        for claims in told(client, ada, scope="openid"):
            assert claims["https://acme.example/x"] == value

    @pytest.mark.parametrize(
        "source",
        [
            *("user.phone", "user.phone_verified", "user.custom_data.missing", "user.custom_data.plan.x"),
            *("user.custom_data.list.0", "user.custom_data.__proto__", "user.custom_data.__class__"),
            *("organization.id", "organization.name", "organization.metadata.x"),
        ],
    )
    def test_case_PT39_a_source_without_a_value_is_left_out(self, acme, admin, ada, source):
        client = declare(acme, admin, claim("x", source))

        for claims in told(client, ada, scope="openid"):
            assert "x" not in claims

    def test_case_PT39_a_dot_separates_names_and_finds_no_dotted_key(self, acme, admin, ada):
        client = declare(acme, admin, claim("x", "user.custom_data.a.b"))

        assert told(client, ada, scope="openid")[0]["x"] == {"c": {"d": {"e": 5}}}

    def test_decision_P14_each_place_gets_only_what_is_declared_for_it(self, acme, admin, ada):
        client = declare(acme, admin, *(claim(f"in_{place}", "user.username", place) for place in EVERYWHERE))

        for place, claims in zip(EVERYWHERE, told(client, ada, scope="openid"), strict=True):
            assert {name for name in claims if name.startswith("in_")} == {f"in_{place}"}

    def test_decision_P14_sources_of_an_organization_are_those_of_the_token(self, acme, admin, ada):
        join(acme, ada, "Initech", "Auditor", metadata={"tier": "silver"})
        globex = join(acme, ada, "Globex", "Owner", metadata={"tier": "gold"})
        client = declare(
            acme, admin,
            claim("org", "organization.name"), claim("tier", "organization.metadata.tier"),
            claim("ids", "organization_roles"), claim("own", "organization.id"), claim("r", "roles"),
        )  # fmt: skip

        for claims in told(client, ada, scope="openid", organization_id=globex):
            assert (claims["org"], claims["tier"], claims["own"]) == ("Globex", "gold", globex)
            assert f"{globex}:Owner" in claims["ids"]
            assert claims["r"] == ["Owner"]

    def test_case_PT27_what_a_user_or_organization_holds_replaces_no_claim(self, acme, admin, ada):
        evil = {"act": {"sub": "x"}, "sub": "evil", "aud": "evil", "cnf": {"jkt": "x"}}
        with acme.active():
            User.objects.filter(pk=ada.pk).update(custom_data={"all": evil, **evil})
        client = declare(acme, admin, claim("all", "user.custom_data.all"))

        for claims in told(client, ada, scope="openid"):
            assert claims["sub"] == str(ada.pk)
            assert claims["all"] == evil
            assert not {"act", "cnf"} & set(claims)

    def test_decision_P14_an_application_token_has_constants_alone(self, acme, admin):
        client = declare(
            acme, admin, claim("env", {"value": "prod"}), claim("who", "user.username"), claim("r", "roles"),
            type="MachineToMachine",
        )  # fmt: skip

        claims = claims_of(client.token(grant_type="client_credentials").json()["access_token"])

        assert claims["env"] == "prod"
        assert not {"who", "r"} & set(claims)

    def test_decision_P14_a_cached_machine_gets_a_change_at_once(self, acme, admin):
        client = declare(acme, admin, claim("env", {"value": "one"}), type="MachineToMachine")
        for value in ("two", "three"):
            client.token(grant_type="client_credentials")
            path = f"/applications/{client.application.pk}"
            admin.patch(path, oidc_client_metadata={"custom_claims": [claim("env", {"value": value})]})

            token = client.token(grant_type="client_credentials").json()["access_token"]

            assert claims_of(token)["env"] == value

    def test_decision_P14_an_api_has_its_own_claims_and_they_win(self, acme, admin, ada):
        declared = [claim("plan", "user.custom_data.plan", "access_token")]
        admin.created("/resources", name="R", indicator=API, custom_claims=declared)
        client = declare(acme, admin, claim("plan", {"value": "of the application"}))

        for_api = claims_of(client.tokens_for(ada, scope="openid", resource=API)["access_token"])
        for_us = claims_of(client.tokens_for(ada, scope="openid")["access_token"])

        assert (for_api["plan"], for_us["plan"]) == ("gold", "of the application")

    def test_case_PT39_large_values_are_left_out_and_audited_once_an_hour(self, acme, admin, ada):
        big = {f"k{i}": "x" * 900 for i in range(6)} | {"huge": "x" * 1030}
        with acme.active():
            User.objects.filter(pk=ada.pk).update(custom_data=big)
        client = declare(acme, admin, *(claim(name, f"user.custom_data.{name}", "userinfo") for name in big))

        for _ in range(2):
            userinfo = told(client, ada, scope="openid")[1]
            assert {name for name in userinfo if name in big} == {"k0", "k1", "k2", "k3"}

        (entry,) = Entry.objects.filter(tenant_id=acme.tenant.pk, key="CustomClaim.Omit")
        assert entry.application_id == str(client.application.pk)
        assert entry.payload["claims"] == ["huge", "k4", "k5"]

    @pytest.mark.parametrize("place", ["id_token", "access_token"])
    def test_case_PT39_a_large_value_is_left_out_of_tokens_and_audited(self, acme, admin, ada, place):
        with acme.active():
            User.objects.filter(pk=ada.pk).update(custom_data={"big": "x" * 2000})
        client = declare(acme, admin, claim("big", "user.custom_data.big", place))

        tokens = client.tokens_for(ada, scope="openid")

        assert "big" not in claims_of(tokens[place])
        (entry,) = Entry.objects.filter(tenant_id=acme.tenant.pk, key="CustomClaim.Omit")
        assert entry.payload["claims"] == ["big"]


class TestThirdParties:
    def test_decision_P14_a_third_party_gets_what_the_consent_page_named(self, acme, admin, ada):
        client = declare(
            acme, admin,
            claim("nick", "user.profile.nickname"), claim("country", "user.profile.address.country"),
            claim("mail", "user.email"), claim("plan", "user.custom_data.plan"), claim("r", "roles"),
            claim("env", {"value": "prod"}), claim("key", "user.id"),
            is_third_party=True,
        )  # fmt: skip
        browser = acme.browser()
        browser.sign_in(ada)
        expected = {
            "openid": {"env", "key"},
            "openid profile": {"env", "key", "nick"},
            "openid email address roles": {"env", "key", "mail", "country", "r"},
        }

        for scope, names in expected.items():
            tokens = third_parties.connect(browser, client, scope=scope)
            places = (
                claims_of(tokens["id_token"]), claims_of(tokens["access_token"]),
                client.userinfo(tokens["access_token"]).json(),
            )  # fmt: skip
            for claims in places:
                declared = {"nick", "country", "mail", "plan", "r", "env", "key"}
                assert declared & set(claims) == names
