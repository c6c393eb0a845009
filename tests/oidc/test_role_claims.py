"""The scopes ``roles`` and ``groups``, and the claims that an API asks for (decision P13)."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from database import batching
from identity.organizations.models import Membership, Organization
from identity.resources.models import Resource
from identity.roles.models import Role, UserRole
from oidc.provider import affiliations, released_claims
from oidc.provider.claim_facts import ClaimFacts
from oidc.settings import services as settings
from tests.support import third_parties
from tests.support.independent import claims_of
from tests.support.role_claims import give_roles, join, told

API = "https://orders.example"
WANTED = '{"id_token": {"roles": null}, "userinfo": {"groups": null}}'


@pytest.fixture
def ada(acme):
    user = acme.user("ada")
    give_roles(acme, user, "Editor", "Author")
    return user


@pytest.fixture
def globex(acme, ada):
    join(acme, ada, "Initech", "Auditor")
    return join(acme, ada, "Globex", "Owner", "Buyer")


@pytest.mark.parametrize("name", ["roles", "groups"])
def test_decision_P13_a_scope_releases_the_names_of_system_roles(acme, ada, globex, name):
    id_token, userinfo, access_token = told(acme.application(), ada, scope=f"openid {name}")

    assert id_token[name] == userinfo[name] == ["Author", "Editor"]
    assert not {"roles", "groups"} & set(access_token)
    assert access_token["scope"] == f"openid {name}"
    other = {"roles", "groups"} - {name}
    assert not other & (set(id_token) | set(userinfo))


def test_decision_P13_without_the_scopes_nothing_is_released(acme, ada, globex):
    scope = "openid profile email phone urn:service:scope:organizations urn:service:scope:organization_roles"

    for claims in told(acme.application(), ada, scope=scope):
        assert not {"roles", "groups", "roles_truncated", "groups_truncated"} & set(claims)


def test_decision_P13_somebody_without_roles_has_an_empty_list(acme):
    id_token, userinfo, _ = told(acme.application(), acme.user(), scope="openid roles groups")

    assert (id_token["roles"], id_token["groups"]) == ([], [])
    assert (userinfo["roles"], userinfo["groups"]) == ([], [])


def test_decision_P13_in_a_token_for_an_organization_roles_are_those_there(acme, ada, globex):
    id_token, userinfo, _ = told(acme.application(), ada, scope="openid roles groups", organization_id=globex)

    assert id_token["roles"] == userinfo["roles"] == ["Buyer", "Owner"]
    assert id_token["groups"] == userinfo["groups"] == ["Buyer", "Owner"]


def test_decision_P13_somebody_who_left_the_organization_has_no_roles_there(acme, ada, globex):
    client = acme.application()
    token = client.tokens_for(ada, scope="openid roles", organization_id=globex)["access_token"]
    with acme.active():
        Membership.objects.filter(organization=globex).delete()

    assert client.userinfo(token).json()["roles"] == []


@pytest.mark.parametrize(
    ("setting", "groups"),
    [
        ("roles", ["Author", "Editor"]),
        ("organizations", ["Globex", "Initech"]),
        ("organization_roles", ["Globex:Buyer", "Globex:Owner", "Initech:Auditor"]),
    ],
)
def test_decision_P13_the_tenant_decides_what_groups_are(acme, ada, globex, setting, groups):
    with acme.active():
        settings.change({"groups_claim": setting}, is_proven=True)

    id_token, userinfo, _ = told(acme.application(), ada, scope="openid roles groups")

    assert id_token["groups"] == userinfo["groups"] == groups
    assert id_token["roles"] == ["Author", "Editor"]


def test_decision_P13_a_refresh_has_the_roles_of_this_moment(acme, ada):
    client = acme.application()
    tokens = client.tokens_for(ada, scope="openid roles offline_access")
    give_roles(acme, ada, "Owner")

    fresh = client.refresh(tokens["refresh_token"]).json()

    assert claims_of(fresh["id_token"])["roles"] == ["Author", "Editor", "Owner"]


@pytest.mark.parametrize(("number", "is_listed"), [(200, True), (201, False)])
def test_decision_P13_more_than_200_entries_are_left_out_and_a_claim_says_so(acme, number, is_listed):
    user = acme.user()
    with acme.active():
        roles = Role.objects.bulk_create(Role(name=f"r{i:03}", type=Role.Type.USER) for i in range(number))
        UserRole.objects.bulk_create(UserRole(user=user, role=role) for role in roles)

    id_token, userinfo, _ = told(acme.application(), user, scope="openid roles groups")

    for claims in (id_token, userinfo):
        for name in ("roles", "groups"):
            assert (name in claims) is is_listed
            assert claims.get(f"{name}_truncated") == (None if is_listed else True)


def test_decision_P13_each_is_requested_alone_with_claims(acme, ada):
    id_token, userinfo, _ = told(acme.application(), ada, scope="openid", claims=WANTED)

    assert id_token["roles"] == ["Author", "Editor"]
    assert userinfo == {"sub": str(ada.pk), "groups": ["Author", "Editor"]}


class TestResources:
    """The claims in access tokens of an API that asks for them."""

    @pytest.fixture
    def api(self, acme):
        with acme.active():
            return Resource.objects.create(name="Orders", indicator=API, claims=["roles"])

    def test_decision_P13_the_access_token_has_the_claims_that_its_api_asks_for(self, acme, ada, api):
        client = acme.application()

        for scope in ("openid", "openid roles groups"):
            access_token = claims_of(client.tokens_for(ada, scope=scope, resource=API)["access_token"])
            assert access_token["roles"] == ["Author", "Editor"]
            assert "groups" not in access_token

    def test_decision_P13_in_an_organization_they_are_of_the_organization(self, acme, ada, globex, api):
        tokens = acme.application().tokens_for(ada, scope="openid", resource=API, organization_id=globex)

        assert claims_of(tokens["access_token"])["roles"] == ["Buyer", "Owner"]

    def test_decision_P13_a_machine_token_has_none(self, acme, api):
        machine = acme.application("MachineToMachine")

        token = machine.token(grant_type="client_credentials", resource=API).json()["access_token"]

        assert not {"roles", "groups"} & set(claims_of(token))

    def test_decision_P13_a_third_party_gets_them_only_with_consent_to_the_scope(self, acme, api):
        estate = third_parties.Estate(acme)
        give_roles(acme, estate.user, "Editor")
        client, browser = acme.application(is_third_party=True), estate.browser()
        with acme.active():
            Resource.objects.update(claims=["roles", "groups"])

        without = third_parties.connect(browser, client, scope="openid", resource=API)
        page = third_parties.consent_page(browser, client, scope="openid roles", resource=API)
        consented = third_parties.connect(browser, client, scope="openid roles", resource=API)

        assert not {"roles", "groups"} & set(claims_of(without["access_token"]))
        assert "See your roles" in page.text
        assert claims_of(consented["access_token"])["roles"] == ["Editor"]
        assert "groups" not in claims_of(consented["access_token"])

    def test_decision_P13_a_permission_called_like_the_scope_is_no_consent_to_it(self, acme):
        estate = third_parties.Estate(acme)
        hospital = estate.organization("Hospital", {"roles": "", "see": ""})
        client = acme.application(is_third_party=True)
        tokens = third_parties.connect(
            estate.browser(), client, scope="openid offline_access", organization_id=hospital
        )

        answer = client.refresh(tokens["refresh_token"], organization_id=hospital).json()

        assert answer["scope"] == "openid offline_access see"
        assert "roles" not in client.userinfo(answer["access_token"]).json()

    def test_decision_P13_an_api_may_call_a_scope_like_it(self, acme):
        estate = third_parties.Estate(acme)
        payroll = estate.api("Payroll", {"roles": "", "read": ""})
        client = acme.application(is_third_party=True)

        tokens = third_parties.connect(estate.browser(), client, scope="openid", resource=payroll)

        assert tokens["scope"] == "openid read roles"


def test_decision_P13_a_third_party_needs_consent_to_the_scopes(acme, ada):
    client, browser = acme.application(is_third_party=True), acme.browser()
    browser.sign_in(ada)
    third_parties.connect(browser, client, scope="openid profile")

    assert third_parties.silent(browser, client, scope="openid roles")["error"] == "consent_required"
    page = third_parties.consent_page(browser, client, scope="openid roles groups")
    assert "See your roles" in page.text
    assert "See your groups" in page.text


def test_decision_P13_another_tenants_roles_stay_there(acme, rival, ada):
    other = rival.user("ada")
    give_roles(rival, other, "Foreign")

    id_token, _, _ = told(acme.application(), ada, scope="openid roles groups")

    assert id_token["roles"] == ["Author", "Editor"]


def test_decision_P13_all_facts_are_read_in_one_statement(acme, ada, globex):
    with acme.active(), CaptureQueriesContext(connection ) as queries:  # fmt: skip
        found = batching.run(affiliations.read(ada.pk, Organization.objects.model(pk=globex).pk))

    assert len(queries) == 1
    assert sorted(found.system_roles) == ["Author", "Editor"]
    assert {each.name for each in found.organizations.values()} == {"Globex", "Initech"}
    assert [each.is_admin for each in found.organizations.values()] == [False, False]


@pytest.mark.parametrize("is_for_organization", [True, False])
def test_roles_and_organizations_are_read_in_one_statement(acme, ada, globex, is_for_organization):
    facts = ClaimFacts(ada, UUID(str(globex)) if is_for_organization else None)
    names = {"roles", "groups", "organizations", "organization_roles"}
    with acme.active(), CaptureQueriesContext(connection) as queries:
        build = released_claims.get_for_userinfo(facts, names, custom=(), consented_scopes=None)
        found = batching.run(build)

    assert len(queries) == 1
    assert found["roles"] == (["Buyer", "Owner"] if is_for_organization else ["Author", "Editor"])
    assert found["organizations"][1] == str(globex)
    assert found["organization_roles"][1:] == [f"{globex}:Buyer", f"{globex}:Owner"]
    assert found.get("organization_is_admin") == (False if is_for_organization else None)


def test_organizations_are_in_the_order_in_which_the_user_joined(acme, ada, globex):
    with acme.active():
        older = datetime.now(UTC) - timedelta(days=1)
        Membership.objects.filter(organization=globex).update(created_at=older)
        found = batching.run(affiliations.read(ada.pk, None))

    assert [each.name for each in found.organizations.values()] == ["Globex", "Initech"]
