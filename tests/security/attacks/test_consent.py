"""A malicious third-party application: a consent for one thing used for another (AV03, AV05, AV09, AV10)."""

import pytest

from oidc.applications import services as applications
from tests.support.cast import PASSWORD
from tests.support.forms import form
from tests.support.management import result_of
from tests.support.third_parties import (
    Estate,
    claims_of,
    connect,
    connect_silently,
    consent_page,
    disconnect,
    press,
    send,
    silent,
    targets_of,
)


@pytest.fixture
def estate(acme):
    return Estate(acme)


@pytest.fixture
def client(acme):
    return acme.application(name="Evil Calendar", is_third_party=True)


class TestAnotherTarget:
    """AV03 and AV05."""

    def test_attack_AV03_read_my_calendar_is_not_read_my_payslips(self, estate, client):
        calendar = estate.api("Calendar", {"read": "See your appointments"})
        payroll = estate.api("Payroll", {"read": "See your payslips"})
        browser, scope = estate.browser(), "openid offline_access read"
        tokens = connect(browser, client, scope=scope, resource=calendar)

        stolen = client.refresh(tokens["refresh_token"], resource=payroll)
        asked = silent(browser, client, scope=scope, resource=payroll)
        honest = client.refresh(tokens["refresh_token"], resource=calendar).json()

        assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_request")
        assert asked["error"] == "consent_required"
        assert claims_of(honest["access_token"])["aud"] == calendar
        assert honest["scope"] == scope

    def test_attack_AV03_delete_in_the_chess_club_is_not_delete_in_the_hospital(self, estate, client):
        club = estate.organization("Chess Club", {"delete": "Delete games"})
        hospital = estate.organization("Hospital", {"delete": "Delete patients", "see": ""}, is_admin=True)
        browser = estate.browser()
        connect(browser, client, scope="openid offline_access delete", organization_id=club)
        tokens = connect(browser, client, scope="openid offline_access see", organization_id=hospital)

        asked = {"organization_id": hospital, "scope": "openid delete see"}
        answer = client.refresh(tokens["refresh_token"], **asked).json()

        assert "delete" not in answer["scope"].split()
        assert "see" in answer["scope"].split()

    def test_attack_AV31_orders_of_the_chess_club_are_not_those_of_the_hospital(self, estate, client):
        orders = estate.api("Orders", {"delete": "Delete orders"})
        club, hospital = estate.organization("Chess Club", {}), estate.organization("Hospital", {})
        browser, scope = estate.browser(), "openid offline_access delete"
        page = consent_page(browser, client, scope=scope, resource=orders, organization_id=club)
        press(browser, page)
        tokens = connect(browser, client, scope="openid offline_access", organization_id=hospital)

        asked = {"resource": orders, "organization_id": hospital}
        stolen = client.refresh(tokens["refresh_token"], **asked)
        without_page = silent(browser, client, scope=scope, **asked)
        honest = client.refresh(tokens["refresh_token"], resource=orders, organization_id=club).json()

        assert (stolen.status_code, stolen.json()["error"]) == (400, "invalid_request")
        assert without_page["error"] == "consent_required"
        assert "delete" in honest["scope"].split()
        assert "<bdi>Delete orders</bdi>" in page.text.split("Chess Club")[1]

    def test_attack_AV31_an_api_that_was_taken_back_comes_back_without_the_organization(self, estate, client):
        orders, club = estate.api("Orders", {"delete": ""}), estate.organization("Chess Club", {})
        browser, both = estate.browser(), {"resource": orders, "organization_id": club}
        connect(browser, client, scope="openid", **both)
        send(browser, "/account/applications", target=targets_of(browser)[0])

        tokens = connect(browser, client, scope="openid offline_access", resource=orders)

        assert client.refresh(tokens["refresh_token"], **both).status_code == 400

    def test_attack_AV05_openid_alone_buys_no_token_for_the_payroll_api(self, estate, client):
        payroll = estate.api("Payroll", {"read": "See your payslips"})
        browser = estate.browser()
        code = press(browser, consent_page(browser, client, scope="openid"))["code"]

        refused = client.redeem(code, resource=payroll)
        consumed_nothing = client.redeem(code)

        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_request")
        assert consumed_nothing.status_code == 200

    def test_decision_N2_a_token_for_an_api_opens_nothing_of_gatehouse(self, acme, estate, client):
        payroll = estate.api("Payroll", {"read": ""})
        browser = estate.browser()
        token = connect(browser, client, scope="openid email read", resource=payroll)["access_token"]
        without = connect_silently(browser, client, scope="openid email")["access_token"]

        headers = {"Authorization": f"Bearer {token}"}
        statuses = [
            client.userinfo(token).status_code,
            acme.get("/api/session/context", headers=headers).status_code,
        ]

        assert claims_of(token)["aud"] == payroll
        assert statuses == [401, 401]
        assert client.userinfo(without).status_code == 200

    def test_decision_N2_openid_alone_buys_no_token_for_an_organization(self, estate, client):
        hospital = estate.organization("Hospital", {"delete": ""})
        browser = estate.browser()
        code = press(browser, consent_page(browser, client, scope="openid"))["code"]

        refused = client.redeem(code, organization_id=hospital)

        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_request")

    def test_decision_N2_of_another_tenant_nothing_is_known(self, estate, client, rival):
        elsewhere = Estate(rival)
        indicator = elsewhere.api("Payroll", {"read": ""})
        organization = elsewhere.organization("Hospital", {"see": ""})
        tokens = connect(estate.browser(), client, scope="openid offline_access")

        answers = [
            client.refresh(tokens["refresh_token"], **asked)
            for asked in ({"resource": indicator}, {"organization_id": organization})
        ]

        assert [answer.json()["error"] for answer in answers] == ["invalid_request"] * 2


class TestWhatThePageShowed:
    """AV09."""

    def test_attack_AV09_what_came_between_page_and_button_is_not_granted(self, estate, client):
        payroll = estate.admin.created("/resources", name="Payroll", indicator="https://payroll.example")
        estate.add_scopes(payroll["id"], "Reader", {"read": "See your payslips"})
        browser = estate.browser()
        page = consent_page(browser, client, scope="openid", resource=payroll["indicator"])

        estate.add_scopes(payroll["id"], "Writer", {"payroll:write": "Change your salary"})
        tokens = client.redeem(press(browser, page)["code"]).json()

        assert "See your payslips" in page.text
        assert tokens["scope"].split() == ["openid", "read"]
        again = silent(browser, client, scope="openid", resource=payroll["indicator"])
        assert again["error"] == "consent_required"

    def test_attack_AV09_a_second_page_in_another_tab_does_not_change_what_the_first_one_grants(
        self, estate, client
    ):
        payroll = estate.admin.created("/resources", name="Payroll", indicator="https://payroll.example")
        estate.add_scopes(payroll["id"], "Reader", {"read": ""})
        browser = estate.browser()
        page = consent_page(browser, client, scope="openid", resource=payroll["indicator"])
        estate.add_scopes(payroll["id"], "Writer", {"payroll:write": ""})
        browser.get(str(page.url))  # the attacker's frame, or a second tab

        answer = form(page).submit(browser, choice="allow")

        assert answer.status_code == 200  # the page again, as it is now
        assert "payroll:write" in answer.text

    def test_attack_AV09_the_page_names_api_organization_and_every_scope(self, estate, client):
        payroll = estate.api("Payroll", {"read": "See your payslips", "burn": ""})
        hospital = estate.organization("St. Mary's Hospital", {"discharge": "Send patients home"})
        browser = estate.browser()

        at_api = consent_page(browser, client, scope="openid", resource=payroll).text
        in_organization = consent_page(browser, client, scope="openid", organization_id=hospital).text

        for text in ("Payroll", "https://payroll.example", "See your payslips", "burn"):
            assert text in at_api
        for text in ("St. Mary&#x27;s Hospital", "Send patients home", "discharge"):
            assert text in in_organization

    def test_decision_N2_an_organization_of_others_is_not_named(self, estate, client):
        secret = estate.admin.created("/organizations", name="Project Nightfall")["id"]

        page = consent_page(estate.browser(), client, scope="openid", organization_id=secret)

        assert "Nightfall" not in page.text


class TestWithoutConsent:
    """AV10: b, c and d. The race (a) is in ``test_consent_races.py``."""

    def test_attack_AV10b_becoming_a_third_party_between_code_and_redemption(self, acme, estate):
        client = acme.application()
        browser = estate.browser()
        code = browser.code_for(client, estate.user)

        with acme.active():
            applications.change(client.application, {"is_third_party": True}, is_proven=True)
        answer = client.redeem(code)

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")

    def test_attack_AV10b_becoming_a_third_party_before_the_refresh(self, acme, estate):
        client = acme.application()
        tokens = client.tokens_for(estate.user)

        with acme.active():
            applications.change(client.application, {"is_third_party": True}, is_proven=True)

        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_attack_AV10b_what_is_agreed_to_later_does_not_wake_the_older_tokens(self, acme, estate):
        client = acme.application()
        tokens = client.tokens_for(estate.user)
        with acme.active():
            applications.change(client.application, {"is_third_party": True}, is_proven=True)

        connect(estate.browser(), client)

        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"

    def test_attack_AV10c_disconnect_ends_an_access_token_without_a_refresh_token(self, acme, estate, client):
        browser = estate.browser()
        token = connect(browser, client, scope="openid email")["access_token"]
        before = client.userinfo(token).status_code

        disconnect(browser, client)

        assert before == 200
        assert client.userinfo(token).status_code == 401
        context = acme.get("/api/session/context", headers={"Authorization": f"Bearer {token}"})
        assert context.status_code == 401

    def test_attack_AV10c_agreeing_again_does_not_wake_it(self, estate, client):
        browser = estate.browser()
        tokens = connect(browser, client)
        without = connect_silently(browser, client, scope="openid email")
        disconnect(browser, client)

        connect(browser, client)

        for token in (tokens["access_token"], without["access_token"]):
            assert client.userinfo(token).status_code == 401
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"

    def test_attack_AV10c_an_organization_that_is_taken_back_ends_its_tokens(self, estate, client):
        hospital = estate.organization("Hospital", {"see": ""})
        browser = estate.browser()
        token = connect(browser, client, scope="openid", organization_id=hospital)["access_token"]
        whole = connect_silently(browser, client, scope="openid")["access_token"]
        before = client.userinfo(token).status_code

        [target] = targets_of(browser)
        send(browser, "/account/applications", target=target)

        assert before == 200
        assert client.userinfo(token).status_code == 401
        assert client.userinfo(whole).status_code == 200
        assert (
            silent(browser, client, scope="openid", organization_id=hospital)["error"] == "consent_required"
        )
        assert "code" in silent(browser, client, scope="openid")

    def test_attack_AV10d_ones_own_new_password_ends_the_tokens_of_third_parties(self, acme, estate, client):
        browser = estate.browser()
        token = connect(browser, client, scope="openid email")["access_token"]
        ours = acme.application().tokens_for(estate.user, browser, scope="openid")["access_token"]

        answer = send(
            browser, "/account/password", password=PASSWORD, new_password="a whole new passphrase 2"
        )

        assert answer.status_code == 303, answer.text
        assert client.userinfo(token).status_code == 401
        assert client.userinfo(ours).status_code == 200  # this browser is kept (I5)


def test_decision_N2_the_account_page_names_targets_and_takes_back_one(acme, estate, client):
    payroll = estate.api("Payroll", {"read": "See your payslips"})
    hospital = estate.organization("Hospital", {"see": "See patients"})
    browser = estate.browser()
    tokens = connect(browser, client, scope="openid offline_access", resource=payroll)
    connect(browser, client, scope="openid offline_access", organization_id=hospital)

    page = browser.get("/account/applications")
    for text in ("Payroll", "https://payroll.example", "See your payslips", "Hospital", "See patients"):
        assert text in page.text
    first, second = targets_of(browser)
    send(browser, "/account/applications", target=first)

    left = browser.get("/account/applications").text
    assert "Payroll" not in left
    assert "Hospital" in left
    refused = client.refresh(tokens["refresh_token"], resource=payroll)
    kept = client.refresh(tokens["refresh_token"], organization_id=hospital)
    assert refused.json()["error"] == "invalid_request"
    assert "see" in kept.json()["scope"].split()
    assert targets_of(browser) == [second]
    assert send(browser, "/account/applications", target=first).status_code == 404


def test_decision_N2_a_consent_ends_with_its_api_its_organization_and_its_person(acme, estate, client):
    payroll = estate.admin.created("/resources", name="Payroll", indicator="https://payroll.example")
    hospital = estate.organization("Hospital", {"see": ""})
    browser = estate.browser()
    connect(browser, client, scope="openid", resource=payroll["indicator"])
    connect(browser, client, scope="openid", organization_id=hospital)

    result_of(estate.admin.delete(f"/resources/{payroll['id']}"))
    result_of(estate.admin.delete(f"/organizations/{hospital}"))
    again = estate.admin.created("/resources", name="Payroll", indicator="https://payroll.example")

    said = silent(browser, client, scope="openid", resource=again["indicator"])
    assert said["error"] == "consent_required"
    assert "Hospital" not in browser.get("/account/applications").text
    result_of(estate.admin.delete(f"/users/{estate.user.pk}"))
