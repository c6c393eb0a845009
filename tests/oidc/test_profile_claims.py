"""The claims of the profile, and the scope ``address`` (OpenID Connect Core 5.1 and 5.4; decision P12)."""

import json

import pytest

from identity.resources.models import Resource, Scope
from identity.roles.models import Role, RoleScope, UserRole
from identity.users.models import User
from oidc.grants.models import Consent
from tests.support import third_parties
from tests.support.cast import query_of
from tests.support.independent import claims_of
from tests.support.profiles import PROFILE

TEXTS = {name: value for name, value in PROFILE.items() if name != "address"}


@pytest.fixture
def ada(acme):
    return acme.user("ada", profile=PROFILE)


def userinfo(client, user, **asked):
    tokens = client.tokens_for(user, **asked)
    return client.userinfo(tokens["access_token"]).json(), claims_of(tokens["id_token"])


def test_decision_P12_the_profile_is_at_userinfo_with_its_scope(acme, ada):
    told, id_token = userinfo(acme.application(), ada, scope="openid profile")

    assert {name: told.get(name) for name in TEXTS} == TEXTS
    assert "address" not in told
    assert not set(TEXTS) & set(id_token)


def test_decision_P12_the_address_is_at_userinfo_with_its_scope(acme, ada):
    client = acme.application()

    told, id_token = userinfo(client, ada, scope="openid address")

    assert told == {"sub": str(ada.pk), "address": PROFILE["address"]}
    assert "address" not in id_token


def test_decision_P12_the_scope_address_is_granted_and_returned(acme, ada):
    tokens = acme.application().tokens_for(ada, scope="openid address")

    assert tokens["scope"] == "openid address"
    assert claims_of(tokens["access_token"])["scope"] == "openid address"


@pytest.mark.parametrize("scope", ["openid", "openid email phone"])
def test_decision_P12_without_their_scopes_none_are_told(acme, ada, scope):
    told, id_token = userinfo(acme.application(), ada, scope=scope)

    assert not set(PROFILE) & (set(told) | set(id_token))


@pytest.mark.parametrize("name", PROFILE)
def test_decision_P12_each_is_told_alone_to_who_requests_it(acme, ada, name):
    wanted = json.dumps({"userinfo": {name: None}, "id_token": {name: None}})

    told, id_token = userinfo(acme.application(), ada, scope="openid", claims=wanted)

    assert told == {"sub": str(ada.pk), name: PROFILE[name]}
    assert id_token[name] == PROFILE[name]
    assert set(id_token) & set(PROFILE) == {name}


def test_decision_P12_the_requested_ones_survive_a_refresh(acme, ada):
    client = acme.application()
    wanted = json.dumps({"userinfo": {"birthdate": None}, "id_token": {"zoneinfo": None}})
    tokens = client.tokens_for(ada, scope="openid offline_access", claims=wanted)

    fresh = client.refresh(tokens["refresh_token"]).json()

    assert client.userinfo(fresh["access_token"]).json() == {"sub": str(ada.pk), "birthdate": "1815-12-10"}
    assert claims_of(fresh["id_token"])["zoneinfo"] == "Europe/London"


def test_decision_P12_gender_of_custom_data_stays_where_the_profile_has_none(acme, ada):
    client = acme.application()
    with acme.active():
        User.objects.update(custom_data={"gender": "x", "nickname": "not this one"})
    both = userinfo(client, ada, scope="openid profile")[0]
    with acme.active():
        User.objects.update(profile={})

    alone = userinfo(client, ada, scope="openid profile")[0]

    assert (both["gender"], alone["gender"]) == ("female", "x")
    assert "nickname" not in alone


def test_decision_P12_a_third_party_gets_the_address_only_with_consent_to_it(acme, ada):
    client, browser = acme.application(is_third_party=True), acme.browser()
    browser.sign_in(ada)
    before = third_parties.connect(browser, client, scope="openid profile")

    silent = third_parties.silent(browser, client, scope="openid profile address")
    page = third_parties.consent_page(browser, client, scope="openid profile address")
    after = third_parties.connect(browser, client, scope="openid profile address")

    assert "address" not in client.userinfo(before["access_token"]).json()
    assert silent["error"] == "consent_required"
    assert "See your postal address" in page.text
    assert client.userinfo(after["access_token"]).json()["address"] == PROFILE["address"]


def test_decision_P12_a_grant_that_0_1_3_issued_without_consent_releases_no_address(acme, ada):
    """Release 0.1.3 ignored the name, and kept it with the grant."""
    client, browser = acme.application(is_third_party=True), acme.browser()
    browser.sign_in(ada)
    tokens = third_parties.connect(browser, client, scope="openid address offline_access")
    with acme.active():
        Consent.objects.update(scopes=["offline_access", "openid"])

    fresh = client.refresh(tokens["refresh_token"]).json()

    assert fresh["scope"] == "openid offline_access"
    assert "address" not in client.userinfo(fresh["access_token"]).json()


def grant_scope(acme, user, name):
    """Return the indicator of an API with a scope of this name, which the user's role grants."""
    with acme.active():
        resource = Resource.objects.create(name="Orders", indicator="https://orders.example")
        scopes = [Scope.objects.create(resource=resource, name=each) for each in (name, "read:orders")]
        role = Role.objects.create(name="Clerk", type=Role.Type.USER)
        UserRole.objects.create(user=user, role=role)
        for scope in scopes:
            RoleScope.objects.create(role=role, scope=scope)
    return resource.indicator


def test_decision_P1_a_scope_of_an_api_that_is_called_address_is_granted_as_in_0_1_3(acme, ada):
    client, resource = acme.application(), grant_scope(acme, ada, "address")

    tokens = client.tokens_for(ada, scope="openid address", resource=resource)

    assert tokens["scope"] == "openid address"
    assert claims_of(tokens["access_token"])["aud"] == resource


def test_decision_P12_the_scope_address_leaves_the_scopes_of_an_api_as_they_are(acme, ada):
    client, resource = acme.application(), grant_scope(acme, ada, "write:orders")

    tokens = client.tokens_for(ada, scope="openid address", resource=resource)

    assert tokens["scope"].split() == ["openid", "address", "read:orders", "write:orders"]


def test_decision_P12_the_profile_of_another_tenants_user_stays_there(acme, rival, ada):
    client = acme.application()
    token = client.tokens_for(ada, scope="openid profile address")["access_token"]

    answer = rival.get("/oidc/userinfo", headers={"Authorization": f"Bearer {token}"})

    assert answer.status_code == 401
    assert query_of(answer.url.raw_path.decode()) == {}
