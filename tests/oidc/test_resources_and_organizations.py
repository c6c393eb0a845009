"""Decisions O1 to O4: audiences, scopes and organizations of the tokens of users, read live from roles."""

import pytest

from tests.support.cast import query_of
from tests.support.forms import form
from tests.support.independent import claims_of
from tests.support.management import result_of
from tests.support.role_setting import INDICATOR, Setting


@pytest.fixture
def setting(acme):
    return Setting(acme)


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def tokens(setting, client):
    return client.tokens_for(setting.user)


class TestUserTokens:
    def test_decision_O2_without_anything_is_for_the_issuer(self, acme, tokens):
        claims = claims_of(tokens["access_token"])

        assert claims["aud"] == acme.issuer
        assert "organization_id" not in claims
        assert tokens["expires_in"] == 3600

    def test_decision_O4_case_D13_a_resource_is_the_audience_and_brings_the_scopes_of_system_roles(
        self, client, tokens
    ):
        answer = client.refresh(tokens["refresh_token"], resource=INDICATOR).json()

        claims = claims_of(answer["access_token"])
        assert claims["aud"] == INDICATOR
        assert set(answer["scope"].split()) >= {"openid", "read"}
        assert not {"write", "delete"} & set(answer["scope"].split())
        assert answer["expires_in"] == claims["exp"] - claims["iat"] == 600

    def test_decision_O4_an_organization_brings_the_permissions_there(self, acme, setting, client, tokens):
        organization = setting.organization["id"]

        answer = client.refresh(tokens["refresh_token"], organization_id=organization).json()

        claims = claims_of(answer["access_token"])
        assert claims["aud"] == [acme.issuer, f"urn:service:organization:{organization}"]
        assert claims["organization_id"] == organization
        assert claims["organization_is_admin"] is False
        assert "doc:edit" in answer["scope"].split()
        assert "read" not in answer["scope"].split()

    def test_decision_O4_both_bring_the_union_of_the_resources_scopes(self, setting, client, tokens):
        answer = client.refresh(
            tokens["refresh_token"], organization_id=setting.organization["id"], resource=INDICATOR
        ).json()

        words = set(answer["scope"].split())
        assert {"read", "write"} <= words
        assert not {"delete", "doc:edit"} & words

    def test_decision_O4_named_scopes_are_a_choice(self, client, setting, tokens):
        answer = client.refresh(
            tokens["refresh_token"],
            organization_id=setting.organization["id"],
            resource=INDICATOR,
            scope="openid write delete",
        ).json()

        assert answer["scope"].split() == ["openid", "write"]

    def test_decision_O4_a_choice_of_scopes_that_no_role_grants_brings_none(self, setting, client, tokens):
        answer = client.refresh(tokens["refresh_token"], resource=INDICATOR, scope="openid delete").json()

        assert answer["scope"] == "openid"

    def test_decision_O4_roles_of_other_members_and_other_apis_bring_nothing(self, setting, client, tokens):
        admin, organization = setting.admin, setting.organization["id"]
        permission = admin.created("/organization-permissions", name="doc:delete")["id"]
        owner = admin.created("/organization-roles", name="owner")["id"]
        result_of(admin.put(f"/organization-roles/{owner}/scopes", scope_ids=[permission]))
        deletes = [setting.scopes["delete"]]
        result_of(admin.put(f"/organization-roles/{owner}/resource-scopes", scope_ids=deletes))
        other = str(setting.world.user().pk)
        result_of(admin.post(f"/organizations/{organization}/users", user_ids=[other]))
        its_roles = f"/organizations/{organization}/users/{other}/roles"
        result_of(admin.put(its_roles, organization_role_ids=[owner]))
        api = admin.created("/resources", name="Stock", indicator="https://stock.example")["id"]
        count = admin.created(f"/resources/{api}/scopes", name="count")["id"]
        held = f"/organization-roles/{setting.organization_role['id']}/resource-scopes"
        result_of(admin.put(held, scope_ids=[setting.scopes["write"], count]))

        alone = client.refresh(tokens["refresh_token"], organization_id=organization).json()
        at_api = client.refresh(
            alone["refresh_token"], organization_id=organization, resource=INDICATOR
        ).json()

        assert {"doc:edit", "doc:delete"} & {*alone["scope"].split()} == {"doc:edit"}
        assert {"write", "delete", "count"} & {*at_api["scope"].split()} == {"write"}

    def test_decision_O3_an_organization_of_other_users_is_refused(self, setting, client):
        tokens = client.tokens_for(setting.world.user())

        answer = client.refresh(tokens["refresh_token"], organization_id=setting.organization["id"])

        assert answer.json()["error"] == "invalid_request"

    def test_decision_O3_a_refresh_that_names_no_scope_keeps_the_choice_of_the_first_request(
        self, setting, client
    ):
        tokens = client.tokens_for(setting.user, scope="openid offline_access read")

        answer = client.refresh(
            tokens["refresh_token"], organization_id=setting.organization["id"], resource=INDICATOR
        ).json()

        assert answer["scope"].split() == ["openid", "offline_access", "read"]

    def test_no_role_grants_what_is_called_like_a_scope_of_identity(self, setting, client):
        """RFC 9068 section 3: else the name of an API's scope would open userinfo."""
        admin, person = setting.admin, setting.user
        scope = admin.created(f"/resources/{setting.api['id']}/scopes", name="email")["id"]
        result_of(admin.put(f"/roles/{setting.role['id']}/scopes", scope_ids=[scope]))
        permission = admin.created("/organization-permissions", name="profile")["id"]
        result_of(
            admin.put(f"/organization-roles/{setting.organization_role['id']}/scopes", scope_ids=[permission])
        )
        tokens = client.tokens_for(person, scope="openid offline_access")

        answers = [
            client.refresh(tokens["refresh_token"], **asked).json()
            for asked in ({"resource": INDICATOR}, {"organization_id": setting.organization["id"]})
        ]

        assert [answer["scope"] for answer in answers] == ["openid offline_access"] * 2

    def test_a_permission_may_be_called_like_a_scope_that_is_newer(self, setting, client):
        permission = setting.admin.created("/organization-permissions", name="roles")["id"]
        held = f"/organization-roles/{setting.organization_role['id']}/scopes"
        result_of(setting.admin.put(held, scope_ids=[permission]))
        tokens = client.tokens_for(setting.user, scope="openid offline_access")

        answer = client.refresh(tokens["refresh_token"], organization_id=setting.organization["id"])

        assert answer.json()["scope"] == "openid offline_access roles"

    def test_a_choice_of_such_a_permission_brings_no_other(self, setting, client):
        names = ("roles", "doc:print")
        ids = [setting.admin.created("/organization-permissions", name=name)["id"] for name in names]
        held = f"/organization-roles/{setting.organization_role['id']}/scopes"
        result_of(setting.admin.put(held, scope_ids=ids))
        tokens = client.tokens_for(setting.user, scope="openid offline_access roles")

        answer = client.refresh(tokens["refresh_token"], organization_id=setting.organization["id"])

        assert answer.json()["scope"] == "openid offline_access roles"

    def test_decision_O4_the_new_refresh_token_is_bound_to_no_organization(
        self, acme, setting, client, tokens
    ):
        first = client.refresh(tokens["refresh_token"], organization_id=setting.organization["id"]).json()

        second = client.refresh(first["refresh_token"]).json()

        assert claims_of(second["access_token"])["aud"] == acme.issuer

    def test_decision_O3_roles_are_read_live(self, setting, client, tokens):
        result_of(setting.admin.put(f"/users/{setting.user.pk}/roles", role_ids=[]))

        answer = client.refresh(tokens["refresh_token"], resource=INDICATOR).json()

        assert "read" not in answer["scope"].split()

    @pytest.mark.parametrize(
        "asked",
        [{"resource": "https://nowhere.example"}, {"organization_id": "x"}, {"organization_id": None}],
    )
    def test_decision_O3_case_D12_D13_what_is_unknown_is_refused_and_consumes_nothing(
        self, setting, client, tokens, asked
    ):
        if asked == {"organization_id": None}:
            asked = {"organization_id": setting.admin.created("/organizations", name="Other")["id"]}

        answer = client.refresh(tokens["refresh_token"], **asked)
        again = client.refresh(tokens["refresh_token"])

        assert answer.status_code == 400
        assert answer.json()["error"] == "invalid_request"
        assert again.status_code == 200

    def test_decision_O3_unknown_and_foreign_organizations_get_one_answer(self, setting, client, tokens):
        other = setting.admin.created("/organizations", name="Other")["id"]

        foreign = client.refresh(tokens["refresh_token"], organization_id=other)
        unknown = client.refresh(
            tokens["refresh_token"], organization_id="01a1fc8a-cc5f-7278-9dc4-aeb7d6906a41"
        )

        assert foreign.json() == unknown.json()

    def test_case_D11_after_leaving_an_organization_there_is_no_token_of_it(self, setting, client, tokens):
        result_of(setting.admin.delete(setting.member))

        answer = client.refresh(tokens["refresh_token"], organization_id=setting.organization["id"])

        assert answer.json()["error"] == "invalid_request"

    def test_case_D11_after_leaving_an_organization_no_claim_speaks_of_it(self, setting, client):
        scope = "openid offline_access urn:service:scope:organizations urn:service:scope:organization_roles"
        first = client.tokens_for(setting.user, scope=scope)
        before = claims_of(first["id_token"]), client.userinfo(first["access_token"]).json()

        result_of(setting.admin.delete(setting.member))

        second = client.refresh(first["refresh_token"]).json()
        organization = setting.organization["id"]
        assert organization in str(before)
        for claims in (
            claims_of(second["id_token"]),
            claims_of(second["access_token"]),
            client.userinfo(second["access_token"]).json(),
            client.userinfo(first["access_token"]).json(),
        ):
            assert organization not in str(claims)

    def test_case_G19_what_a_role_template_gave_ends_with_it_at_once(self, acme, setting, client):
        scope = "openid offline_access urn:service:scope:organization_roles"
        organization = setting.organization["id"]
        first = client.tokens_for(setting.user, scope=scope)
        second = client.refresh(first["refresh_token"], organization_id=organization).json()
        context = {"Authorization": f"Bearer {second['access_token']}"}
        before = result_of(acme.get("/api/session/context", headers=context))["organization"]["roles"]

        result_of(setting.admin.delete(f"/organization-roles/{setting.organization_role['id']}"))

        third = client.refresh(second["refresh_token"], organization_id=organization).json()
        assert (before, "doc:edit" in second["scope"]) == (["editor"], True)
        assert "doc:edit" not in third["scope"]
        assert not claims_of(third["id_token"]).get("organization_roles")
        for tokens in (second, third):
            assert not client.userinfo(tokens["access_token"]).json().get("organization_roles")
        after = result_of(acme.get("/api/session/context", headers=context))
        assert after["organization"]["roles"] == []

    def test_decision_O4_one_exchange_suffices(self, setting, client):
        tokens = client.tokens_for(
            setting.user, organization_id=setting.organization["id"], resource=INDICATOR
        )

        claims = claims_of(tokens["access_token"])
        assert claims["aud"] == INDICATOR
        assert claims["organization_id"] == setting.organization["id"]
        assert {"read", "write"} <= set(tokens["scope"].split())

    def test_authorize_refuses_what_is_unknown_by_redirect(self, acme, setting, client):
        browser = acme.browser()
        browser.sign_in(setting.user)

        resource = query_of(browser.authorize(client, resource="https://nowhere.example").headers["Location"])
        organization = query_of(browser.authorize(client, organization_id="x").headers["Location"])

        assert resource["error"] == "invalid_target"
        assert organization["error"] == "invalid_request"


class TestUserinfo:
    def test_tells_organizations_and_roles_when_asked(self, setting, client):
        scope = "openid urn:service:scope:organizations urn:service:scope:organization_roles"
        token = client.tokens_for(setting.user, scope=scope)["access_token"]
        organization = setting.organization["id"]

        assert client.userinfo(token).json() == {
            "sub": str(setting.user.pk),
            "organizations": [organization],
            "organization_roles": [f"{organization}:editor"],
        }

    def test_tells_no_organization_of_other_users(self, setting, client):
        admin = setting.admin
        other = admin.created("/organizations", name="Other")["id"]
        users = [str(setting.world.user().pk)]
        result_of(admin.post(f"/organizations/{other}/users", user_ids=users))
        token = client.tokens_for(setting.user, scope="openid urn:service:scope:organizations")

        told = client.userinfo(token["access_token"]).json()

        assert told["organizations"] == [setting.organization["id"]]

    def test_tells_the_organization_of_the_token_as_of_now(self, setting, client, tokens):
        organization = setting.organization["id"]
        token = client.refresh(tokens["refresh_token"], organization_id=organization).json()["access_token"]

        before = client.userinfo(token).json()
        result_of(setting.admin.patch(setting.member, is_admin=True))
        after = client.userinfo(token).json()
        result_of(setting.admin.delete(setting.member))
        gone = client.userinfo(token).json()

        assert (before["organization_id"], before["organization_is_admin"]) == (organization, False)
        assert after["organization_is_admin"] is True
        assert "organization_id" not in gone

    def test_organization_names_no_reserved_claims(self, setting, client, tokens):
        assert "organizations" not in client.userinfo(tokens["access_token"]).json()


class TestThirdParties:
    def test_decision_O4_get_only_what_was_consented_to(self, acme, setting):
        client = acme.application(is_third_party=True)
        browser = acme.browser()
        organization = setting.organization["id"]
        answer = browser.authorize(client, scope="openid offline_access")
        interaction = query_of(answer.headers["Location"])["interaction"]
        resume = browser.sign_in(setting.user, interaction=interaction).json()["result"]["redirect_to"]
        page = browser.get(browser.get(resume).headers["Location"])
        allowed = form(page).submit(browser, choice="allow")
        code = query_of(browser.get(allowed.headers["Location"]).headers["Location"])["code"]
        tokens = client.redeem(code).json()

        refused = client.refresh(tokens["refresh_token"], organization_id=organization)
        elsewhere = client.refresh(tokens["refresh_token"], resource=INDICATOR)

        assert refused.json()["error"] == "invalid_request"
        assert elsewhere.json()["error"] == "invalid_request"

    def test_decision_O4_the_person_sees_all_that_would_be_granted(self, acme, setting):
        client, browser = acme.application(is_third_party=True), acme.browser()
        browser.sign_in(setting.user)

        asked = browser.authorize(
            client, scope="openid", resource=INDICATOR, organization_id=setting.organization["id"]
        )
        page = browser.get(asked.headers["Location"])

        assert page.text.count("<li><span>") == 3
        assert "on your behalf" in page.text  # the API in the organization
        for name in ("Sign you in", "read", "write"):
            assert f"<li><span>{name}</span>" in page.text
