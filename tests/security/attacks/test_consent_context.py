"""A third party that asks the session context and userinfo for more than was agreed to (AV04; N3, N4)."""

import pytest

from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support.cast import World
from tests.support.management import result_of
from tests.support.third_parties import Estate, claims_of, connect, connect_silently

ORGANIZATIONS = "urn:service:scope:organizations"
ROLES = "urn:service:scope:organization_roles"


@pytest.fixture
def estate(acme):
    return Estate(acme)


@pytest.fixture
def client(acme):
    return acme.application(name="Evil Calendar", is_third_party=True)


def context(world: World, token: str, **query: str):
    return world.get("/api/session/context", params=query, headers={"Authorization": f"Bearer {token}"})


def test_attack_AV04_openid_alone_tells_an_id_and_nothing_else(acme, estate, client):
    first = estate.organization("Hospital", {"see": ""})
    token = connect(estate.browser(), client, scope="openid")["access_token"]

    shown = result_of(context(acme, token))
    elsewhere = context(acme, token, organization_id=first)

    assert shown["user"] == {
        "id": str(estate.user.pk),
        "username": "",
        "name": "",
        "email": "",
        "phone_number": "",
        "avatar": None,
        "updated_at": None,
    }
    assert (shown["organization"], shown["organizations"]) == (None, [])
    assert elsewhere.status_code == 403


def test_attack_AV04_a_narrowed_token_tells_less(acme, estate, client):
    tokens = connect(estate.browser(), client, scope="openid profile email phone offline_access")

    token = client.refresh(tokens["refresh_token"], scope="offline_access").json()["access_token"]

    user = result_of(context(acme, token))["user"]
    assert (user["email"], user["name"], user["phone_number"]) == ("", "", "")


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        ("profile", {"username", "name", "updated_at"}),
        ("email", {"email"}),
        ("phone", {"phone_number"}),
        ("profile email phone", {"username", "name", "updated_at", "email", "phone_number"}),
    ],
)
def test_decision_N3_each_scope_releases_its_own(acme, estate, client, scope, told):
    token = connect(estate.browser(), client, scope=f"openid {scope}")["access_token"]

    user = result_of(context(acme, token))["user"]

    assert {name for name, value in user.items() if value} == told | {"id"}


def test_decision_N3_only_organizations_that_were_agreed_to(acme, estate, client):
    hospital = estate.organization("Hospital", {"see": ""}, is_admin=True)
    club = estate.organization("Chess Club", {"delete": ""})
    browser = estate.browser()
    scope = f"openid offline_access {ORGANIZATIONS} {ROLES}"
    tokens = connect(browser, client, scope=scope)
    nothing = result_of(context(acme, tokens["access_token"]))
    connect(browser, client, scope=scope, organization_id=hospital)

    token = client.refresh(tokens["refresh_token"]).json()["access_token"]
    shown = result_of(context(acme, token))
    chosen = result_of(context(acme, token, organization_id=hospital))["organization"]
    other = context(acme, token, organization_id=club)

    assert nothing["organizations"] == []
    assert [one["name"] for one in shown["organizations"]] == ["Hospital"]
    assert (chosen["name"], chosen["is_admin"], chosen["roles"]) == ("Hospital", True, ["of Hospital"])
    assert other.status_code == 403


def test_decision_N3_the_tokens_own_organization_needs_no_further_scope_but_its_roles_do(
    acme, estate, client
):
    hospital = estate.organization("Hospital", {"see": ""})
    browser = estate.browser()
    token = connect(browser, client, scope="openid", organization_id=hospital)["access_token"]

    shown = result_of(context(acme, token))

    assert (shown["organization"]["name"], shown["organization"]["roles"]) == ("Hospital", [])
    assert shown["organizations"] == []
    assert shown["session"]["current_organization_id"] == hospital


def test_decision_N3_our_own_applications_are_told_what_the_interface_says(acme, estate):
    hospital = estate.organization("Hospital", {"see": ""})
    token = acme.application().tokens_for(estate.user, scope="openid")["access_token"]

    shown = result_of(context(acme, token))

    assert (shown["user"]["email"], shown["user"]["name"]) == ("mia@x.org", "Mia Muster")
    assert [one["id"] for one in shown["organizations"]] == [hospital]


def test_attack_a_token_counts_the_passwords_that_its_user_had(acme, estate, client):
    connect(estate.browser(), client, scope="openid")
    password = "An0ther password"
    result_of(estate.admin.patch(f"/users/{estate.user.pk}/password", password=password))
    browser = acme.browser()
    assert browser.sign_in(estate.user, password).status_code == 200

    said = [claims_of(connect_silently(browser, client, scope="openid")["access_token"]) for _ in range(2)]

    assert 1 not in said[0].values()
    assert said[0]["epoch_hash"] != said[1]["epoch_hash"]


@pytest.mark.parametrize(("epoch", "status"), [(0, 200), (1, 401), ("0", 401)])
def test_decision_N2_a_token_of_release_0_1_1_ends_with_the_password_too(acme, estate, client, epoch, status):
    token = connect(estate.browser(), client, scope="openid")["access_token"]
    claims = {name: value for name, value in claims_of(token).items() if name != "epoch_hash"}
    with acme.active():
        key = SigningKey.objects.get(status="active")
        earlier = signing.sign(claims | {"user_epoch": epoch}, typ="at+jwt", key_id=key.pk)

    assert client.userinfo(earlier).status_code == status


class TestAudience:
    def test_decision_N4_an_api_learns_nothing_with_the_token_it_was_sent(self, acme, estate, client):
        payroll = estate.api("Payroll", {"read": ""})
        tokens = connect(estate.browser(), client, scope="openid email offline_access", resource=payroll)

        for answer in (client.userinfo(tokens["access_token"]), context(acme, tokens["access_token"])):
            assert answer.status_code == 401
            assert "mia@x.org" not in answer.text
        ours = client.refresh(tokens["refresh_token"]).json()["access_token"]
        assert client.userinfo(ours).json()["email"] == "mia@x.org"

    def test_decision_N4_a_token_of_an_organization_is_for_us_too(self, acme, estate, client):
        hospital = estate.organization("Hospital", {"see": ""})
        token = connect(estate.browser(), client, scope="openid", organization_id=hospital)["access_token"]

        assert client.userinfo(token).json()["organization_id"] == hospital
        assert context(acme, token).status_code == 200

    def test_decision_N4_tokens_of_our_own_applications_for_an_api_still_count(self, acme, estate):
        payroll = estate.api("Payroll", {"read": ""})
        client = acme.application()
        token = client.tokens_for(estate.user, resource=payroll)["access_token"]

        assert client.userinfo(token).status_code == 200
        assert context(acme, token).status_code == 200

    def test_decision_N4_of_another_tenant_no_token_counts(self, acme, rival, estate, client):
        token = connect(estate.browser(), client, scope="openid")["access_token"]

        assert context(rival, token).status_code == 401
