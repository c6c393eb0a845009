"""A scope that a client names several times in ``scope`` counts once."""

import pytest

from oidc.grants.models import AuthorizationCode, Consent
from tests.support.forms import form
from tests.support.independent import claims_of
from tests.support.third_parties import Estate, consent_page, press

REPEATED = "openid read read email read openid email read"


@pytest.fixture
def estate(acme):
    return Estate(acme)


def test_on_the_consent_page_and_in_the_token_of_a_user(acme, estate):
    api = estate.api("Shop", {"read": "See what I bought"})
    client, browser = acme.application(is_third_party=True), estate.browser()

    page = consent_page(browser, client, scope=REPEATED, resource=api)
    code = press(browser, page)["code"]
    with acme.active():
        stored = AuthorizationCode.objects.get().scope
    answer = client.redeem(code, resource=api)

    assert page.text.count("See what I bought") == 1
    assert form(page).fields["shown"]
    assert stored == "openid email read"
    assert answer.json()["scope"] == "openid email read"
    assert claims_of(answer.json()["access_token"])["scope"] == "openid email read"
    with acme.active():
        assert Consent.objects.get().scopes == ["email", "openid"]


def test_at_the_token_endpoint(acme, estate):
    api = estate.api("Shop", {"read": "See what I bought"})
    client, browser = acme.application(), estate.browser()
    answer = client.redeem(browser.code_for(client, estate.user, scope="openid offline_access read"))
    token = answer.json()["refresh_token"]

    refreshed = client.refresh(token, scope=REPEATED.replace("email", "openid"), resource=api)

    assert refreshed.json()["scope"] == "openid read"


def test_in_the_token_of_a_machine(acme, estate):
    made = estate.admin.created("/resources", name="Shop", indicator="https://shop.example")
    scope = estate.admin.created(f"/resources/{made['id']}/scopes", name="read", description="")
    role = estate.admin.created("/roles", name="Reader", type="MachineToMachine")
    machine = acme.application("MachineToMachine")
    estate.admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]])
    estate.admin.put(f"/applications/{machine.application.pk}/roles", role_ids=[role["id"]])

    answer = machine.token(
        grant_type="client_credentials", resource="https://shop.example", scope="read read read"
    )

    assert answer.json()["scope"] == "read"
