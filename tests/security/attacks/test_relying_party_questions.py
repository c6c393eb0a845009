"""What a third-party application learns of people by requests that show them nothing."""

import json

import pytest

from tests.support.management import result_of
from tests.support.third_parties import Estate, connect, press, silent


@pytest.fixture
def estate(acme):
    return Estate(acme)


@pytest.fixture
def client(acme):
    return acme.application(name="Evil Calendar", is_third_party=True)


def naming(*people) -> str:
    """The ``claims`` parameter that asks for one of these people."""
    return json.dumps({"id_token": {"sub": {"values": [str(person.pk) for person in people]}}})


class TestWhoIsHere:
    """The attacker knows ids of people, and asks which of them visits its site. Nobody agreed to anything."""

    @pytest.fixture
    def ask(self, estate, client):
        browser = estate.browser()
        return lambda **asked: silent(browser, client, scope="openid", **asked)["error"]

    def test_attack_a_value_of_sub_is_a_guess(self, acme, estate, ask):
        assert (
            ask(claims=naming(estate.user)) == ask(claims=naming(acme.user())) == ask() == "consent_required"
        )

    def test_attack_a_hint_of_another_application_is_a_guess(self, acme, estate, ask):
        other = acme.application()
        mine = other.tokens_for(estate.user)["id_token"]
        theirs = other.tokens_for(acme.user())["id_token"]

        assert ask(id_token_hint=mine) == ask(id_token_hint=theirs) == "consent_required"

    def test_attack_max_age_tells_when_the_person_signed_in(self, ask):
        assert ask(max_age="0") == ask(max_age="86400") == "consent_required"

    def test_whom_the_person_agreed_to_is_told_that_another_one_is_meant(self, acme, estate, client):
        browser = estate.browser()
        connect(browser, client, scope="openid")

        told = silent(browser, client, scope="openid", claims=naming(acme.user()))

        assert told["error"] == "login_required"
        assert "code" in silent(browser, client, scope="openid", claims=naming(estate.user))


class TestWhereTheyBelong:
    """The person agreed to ``openid``, and the attacker has the ids of organizations."""

    @pytest.fixture
    def hospital(self, estate):
        return estate.organization("Hospital", {"see": ""})

    @pytest.fixture
    def elsewhere(self, estate):
        return estate.admin.created("/organizations", name="Clinic")["id"]

    @pytest.fixture
    def browser(self, estate, client):
        browser = estate.browser()
        connect(browser, client, scope="openid")
        return browser

    def test_attack_a_silent_request_tells_members_from_others(self, client, browser, hospital, elsewhere):
        told = [
            silent(browser, client, scope="openid", organization_id=one)["error"]
            for one in (hospital, elsewhere, "nonsense")
        ]

        assert told == ["consent_required"] * 3

    def test_attack_a_redirect_that_comes_back_at_once_tells_that_somebody_is_no_member(
        self, client, browser, hospital, elsewhere
    ):
        for one in (hospital, elsewhere):
            answer = browser.authorize(client, scope="openid", organization_id=one)
            assert "/consent?" in answer.headers["Location"]

    def test_who_presses_the_button_sends_the_application_its_refusal(self, client, browser, elsewhere):
        page = browser.get(
            browser.authorize(client, scope="openid", organization_id=elsewhere).headers["Location"]
        )

        assert press(browser, page)["error"] == "invalid_request"

    def test_what_was_agreed_to_is_told_when_it_ends(self, estate, client, browser, hospital):
        connect(browser, client, scope="openid", organization_id=hospital)
        assert "code" in silent(browser, client, scope="openid", organization_id=hospital)

        result_of(estate.admin.delete(f"/organizations/{hospital}/users/{estate.user.pk}"))

        told = silent(browser, client, scope="openid", organization_id=hospital)
        assert told["error"] == "invalid_request"
