"""GET /api/session/context: four rules, three errors."""

import json

import pytest

from oidc.context.serializers import ContextSerializer
from tests.support import management
from tests.support.management import refusal_of, result_of

CONTEXT = "/api/session/context"


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def user(acme):
    return acme.user(name="Mia", email="mia@x.org", phone="+4930123456")


@pytest.fixture
def organization(admin, user):
    made = admin.created("/organizations", name="Org", logo_url="https://x.org/l.png")
    result_of(admin.post(f"/organizations/{made['id']}/users", user_ids=[str(user.pk)]))
    return made


def context(world, token, **query):
    return world.get(CONTEXT, params=query, headers={"Authorization": f"Bearer {token}"})


class TestContext:
    def test_shows_tenant_user_application_and_session(self, acme, user):
        client = acme.application(name="App")
        tokens = client.tokens_for(user)

        shown = result_of(context(acme, tokens["access_token"]))

        assert shown["tenant"] == {"id": acme.tenant.pk, "slug": acme.tenant.slug, "name": "Acme"}
        assert shown["user"] | {"updated_at": 0} == {
            "id": str(user.pk),
            "username": user.username,
            "name": "Mia",
            "email": "mia@x.org",
            "phone_number": "+4930123456",
            "avatar": None,
            "updated_at": 0,
        }
        assert isinstance(shown["user"]["updated_at"], int)
        assert shown["application"] == {
            "id": str(client.application.pk),
            "name": "App",
            "type": "Traditional",
            "tenant_id": acme.tenant.pk,
        }
        assert (shown["organization"], shown["organizations"]) == (None, [])
        assert shown["session"] == {
            "subject": str(user.pk),
            "client_id": client.client_id,
            "scopes": ["openid", "profile", "email", "phone", "offline_access"],
            "current_organization_id": None,
        }

    def test_rule_2_uses_the_organization_of_the_token(self, acme, admin, user, organization):
        role = admin.created("/organization-roles", name="editor")
        member = f"/organizations/{organization['id']}/users/{user.pk}"
        result_of(admin.put(f"{member}/roles", organization_role_ids=[role["id"]]))
        client = acme.application()
        tokens = client.tokens_for(user)
        token = client.refresh(tokens["refresh_token"], organization_id=organization["id"]).json()

        shown = result_of(context(acme, token["access_token"]))

        assert shown["organization"] == {
            "id": organization["id"],
            "name": "Org",
            "logo_url": "https://x.org/l.png",
            "is_member": True,
            "is_admin": False,
            "roles": ["editor"],
        }
        assert shown["organizations"] == [
            {"id": organization["id"], "name": "Org", "logo_url": "https://x.org/l.png"}
        ]
        assert shown["session"]["current_organization_id"] == organization["id"]

    def test_is_what_the_documentation_describes(self, acme, admin, user, organization):
        client = acme.application()
        tokens = client.tokens_for(user)
        token = client.refresh(tokens["refresh_token"], organization_id=organization["id"]).json()

        for text in (tokens["access_token"], token["access_token"]):
            shown = result_of(context(acme, text))
            described = ContextSerializer(shown).data
            assert json.dumps(described) == json.dumps(shown)

    def test_names_are_those_of_this_moment(self, acme, admin, user):
        client = acme.application(name="App")
        token = client.tokens_for(user)["access_token"]
        result_of(admin.patch(f"/applications/{client.application.pk}", name="Other"))
        result_of(admin.patch(f"/users/{user.pk}", name="Zoe"))

        shown = result_of(context(acme, token))

        assert (shown["application"]["name"], shown["user"]["name"]) == ("Other", "Zoe")

    def test_a_session_without_a_refresh_family_has_one_too(self, acme, user):
        client = acme.application(name="App")

        shown = result_of(context(acme, client.tokens_for(user, scope="openid")["access_token"]))

        assert shown["application"]["name"] == "App"
        assert shown["tenant"]["name"] == "Acme"

    def test_refuses_an_organization_that_is_longer_than_any_id(self, acme, user):
        token = acme.application().tokens_for(user)["access_token"]

        assert "organization_id" in refusal_of(context(acme, token, organization_id="x" * 65), 400)
        assert result_of(context(acme, token, organization_id=""))["organization"] is None

    def test_rule_1_checks_an_organization_that_is_asked_for(self, acme, admin, user, organization):
        other = admin.created("/organizations", name="Other")
        token = acme.application().tokens_for(user)["access_token"]

        shown = result_of(context(acme, token, organization_id=organization["id"]))

        assert shown["organization"]["id"] == organization["id"]
        for unknown in (other["id"], "x"):
            refusal_of(context(acme, token, organization_id=unknown), 403)

    def test_rule_3_case_G18_never_switches_to_another_organization(self, acme, admin, user, organization):
        second = admin.created("/organizations", name="Second")
        result_of(admin.post(f"/organizations/{second['id']}/users", user_ids=[str(user.pk)]))
        client = acme.application()
        tokens = client.tokens_for(user)
        token = client.refresh(tokens["refresh_token"], organization_id=organization["id"]).json()
        result_of(admin.delete(f"/organizations/{organization['id']}/users/{user.pk}"))

        shown = result_of(context(acme, token["access_token"]))

        assert shown["organization"] is None
        assert [row["id"] for row in shown["organizations"]] == [second["id"]]
        refusal_of(context(acme, token["access_token"], organization_id=organization["id"]), 403)


class TestErrors:
    def test_401_for_a_bad_token_or_a_user_who_is_gone(self, acme, admin, user):
        token = acme.application().tokens_for(user)["access_token"]

        refusal_of(context(acme, token + "x"), 401)
        refusal_of(acme.get(CONTEXT), 401)
        result_of(admin.patch(f"/users/{user.pk}/suspend", is_suspended=True))
        refusal_of(context(acme, token), 401)
        result_of(admin.delete(f"/users/{user.pk}"))
        refusal_of(context(acme, token), 401)

    @pytest.mark.parametrize(
        ("header", "error"),
        [(None, ""), ("Basic YTpi", ""), ("Bearer", ""), ("Bearer x", ', error="invalid_token"')],
    )
    def test_names_an_error_only_where_a_token_came(self, acme, header, error):
        """RFC 6750 section 3.1."""
        answer = acme.get(CONTEXT, headers={} if header is None else {"Authorization": header})

        refusal_of(answer, 401)
        assert answer.headers["WWW-Authenticate"] == f'Bearer realm="gatehouse"{error}'

    def test_404_for_an_application_that_is_gone(self, acme, admin, user):
        client = acme.application()
        token = client.tokens_for(user)["access_token"]

        result_of(admin.delete(f"/applications/{client.application.pk}"))

        refusal_of(context(acme, token), 404)

    def test_case_F24_a_token_in_the_address_is_not_read(self, acme, user):
        token = acme.application().tokens_for(user)["access_token"]

        refusal_of(acme.get(CONTEXT, params={"access_token": token}), 401)

    def test_case_G17_an_organization_that_was_deleted_is_none(self, acme, admin, user, organization):
        client = acme.application()
        tokens = client.tokens_for(user)
        token = client.refresh(tokens["refresh_token"], organization_id=organization["id"]).json()

        result_of(admin.delete(f"/organizations/{organization['id']}"))

        shown = result_of(context(acme, token["access_token"]))
        assert (shown["organization"], shown["organizations"]) == (None, [])
        refusal_of(context(acme, token["access_token"], organization_id=organization["id"]), 403)

    def test_decision_O14_takes_no_other_kind_of_token(self, acme, admin, user, rival):
        tokens = acme.application().tokens_for(user)

        refusal_of(context(acme, tokens["id_token"]), 401)
        refusal_of(context(acme, admin.token), 401)
        refusal_of(context(acme, management.machine(acme).token), 401)
        refusal_of(context(rival, tokens["access_token"]), 401)

    def test_decision_H11_is_read_across_origins_of_the_application(self, acme, user):
        token = acme.application().tokens_for(user)["access_token"]
        headers = {"Authorization": f"Bearer {token}"}

        mine = acme.get(CONTEXT, headers=headers | {"Origin": "https://rp.example"})
        foreign = acme.get(CONTEXT, headers=headers | {"Origin": "https://evil.example"})

        assert mine.headers["Access-Control-Allow-Origin"] == "https://rp.example"
        assert "Access-Control-Allow-Origin" not in foreign.headers
