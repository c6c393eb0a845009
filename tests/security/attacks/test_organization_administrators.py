"""An administrator of an organization, with all that roles can hold, who wants the rest of the tenant."""

import pytest

from tests.support import management
from tests.support.management import Caller, result_of
from tests.support.third_parties import Estate

EVERYTHING = ("all", "manage:organizations")


@pytest.fixture
def estate(acme):
    return Estate(acme)


@pytest.fixture
def mine(estate):
    """My organization, in which a role of mine has the permissions and the scopes of the management API."""
    organization = estate.organization("Mine", dict.fromkeys(EVERYTHING, ""), is_admin=True)
    api = management_api(estate)
    held = [one["id"] for one in result_of(estate.admin.get(f"/resources/{api['id']}/scopes"))]
    roles = f"/organizations/{organization}/users/{estate.user.pk}/roles"
    [role] = result_of(estate.admin.get(roles))
    result_of(estate.admin.put(f"/organization-roles/{role['id']}/resource-scopes", scope_ids=held))
    return organization


@pytest.fixture
def theirs(estate):
    return estate.admin.created("/organizations", name="Theirs")["id"]


@pytest.fixture
def client(acme):
    return acme.application()


def management_api(estate: Estate) -> dict[str, str]:
    found = result_of(estate.admin.get("/resources", page_size=100))["data"]
    return next(one for one in found if one["indicator"].startswith("urn:service:management-api:"))


@pytest.mark.parametrize("names_api", [False, True])
def test_attack_my_roles_hold_all_and_my_token_says_so(acme, estate, client, mine, names_api):
    resource = management_api(estate)["indicator"] if names_api else None
    tokens = client.tokens_for(estate.user, organization_id=mine, resource=resource)
    me = Caller(acme, tokens["access_token"])

    tried = [
        me.get("/users"),
        me.get(f"/organizations/{mine}/users"),
        me.patch(f"/organizations/{mine}", name="x"),
        me.get(f"/m2m/organizations/{mine}/members"),
        me.post(f"/m2m/organizations/{mine}/members", phone="+4930123456"),
        me.get("/logs"),
    ]

    assert set(EVERYTHING) <= set(tokens["scope"].split())
    assert {answer.status_code for answer in tried} == {403}


def test_attack_i_ask_for_tokens_of_another_organization(estate, client, mine, theirs):
    refresh = client.tokens_for(estate.user, organization_id=mine)["refresh_token"]

    for organization in (theirs, f"{mine} {theirs}", mine.upper(), f"urn:service:organization:{theirs}"):
        answer = client.refresh(refresh, organization_id=organization)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


def test_attack_i_go_on_as_an_administrator_after_i_am_none(acme, estate, client, mine):
    tokens = client.tokens_for(estate.user, organization_id=mine)
    token = tokens["access_token"]
    member = f"/organizations/{mine}/users/{estate.user.pk}"
    result_of(estate.admin.patch(member, is_admin=False))

    said = client.userinfo(token).json()
    bearer = {"Authorization": f"Bearer {token}"}
    shown = result_of(acme.get("/api/session/context", headers=bearer))["organization"]
    result_of(estate.admin.delete(member))
    left = result_of(acme.get("/api/session/context", headers=bearer))

    assert (said["organization_is_admin"], shown["is_admin"]) == (False, False)
    assert (left["organization"], left["organizations"]) == (None, [])
    assert "organization_id" not in client.userinfo(token).json()
    assert client.refresh(tokens["refresh_token"], organization_id=mine).status_code == 400


def test_attack_my_robots_role_is_for_people_too(estate, mine):
    robots = estate.admin.created("/organization-roles", name="robots", type="MachineToMachine")
    manager = management.member_manager(estate.world, mine)

    answer = manager.put(f"/m2m/organizations/{mine}/members/{estate.user.pk}/roles", role_ids=[robots["id"]])

    assert answer.status_code == 400
