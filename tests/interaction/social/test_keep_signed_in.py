"""Staying signed in after the browser closes, as the user chooses for each way to sign in: decision Q16."""

import re

import pytest

from identity.sessions.models import Session
from interaction.social.models import SocialAttempt
from oidc.settings import services as oidc_settings
from tests.support import codes
from tests.support.cast import PASSWORD, World
from tests.support.codes import message_to, new_email
from tests.support.forms import form, forms
from tests.support.management import refusal_of
from tests.support.social import away, back, connect, note_redirect_uri

pytestmark = pytest.mark.usefixtures("development")
BOX = "Keep me signed in"


@pytest.fixture
def acme(acme: World) -> World:
    """A tenant that lets its users choose."""
    with acme.active():
        oidc_settings.change({"keep_signed_in": True}, is_proven=True)
    return codes.reachable(acme)


def lives(answer):
    """How many seconds the cookie of a sign-in lives; None: until the browser closes."""
    assert answer.status_code in {200, 303}, answer.text
    [cookie] = [text for text in answer.headers.get_list("Set-Cookie") if "gatehouse-session" in text]
    found = re.search(r"Max-Age=(\d+)", cookie)
    assert ("expires=" in cookie.lower()) == bool(found)
    return int(found[1]) if found else None


def switch_off(world):
    with world.active():
        oidc_settings.change({"keep_signed_in": False}, is_proven=True)


class TestPassword:
    def test_decision_Q16_unticked_ends_with_the_browser(self, acme):
        user, browser = acme.user(), acme.browser()
        page = form(browser.get("/sign-in"))

        answer = page.submit(browser, identifier=user.username, password=PASSWORD, keep_signed_in=None)

        assert page.types["keep_signed_in"] == "checkbox"
        assert lives(answer) is None
        assert browser.get("/account").status_code == 200

    def test_decision_Q16_ticked_lives_as_long_as_the_session(self, acme):
        with acme.active():
            oidc_settings.change({"session_absolute_seconds": 5000}, is_proven=True)
        user, browser = acme.user(), acme.browser()
        page = form(browser.get("/sign-in"))

        answer = page.submit(browser, identifier=user.username, password=PASSWORD, keep_signed_in="on")

        assert lives(answer) == 5000

    def test_decision_Q16_a_wrong_password_keeps_the_tick(self, acme):
        user, browser = acme.user(), acme.browser()

        page = form(browser.get("/sign-in")).submit(
            browser, identifier=user.username, password="wrong", keep_signed_in="on"
        )

        assert page.status_code == 401
        assert re.search(r'name="keep_signed_in"[^>]* checked', page.text)

    def test_decision_Q16_a_new_password_keeps_the_choice(self, acme):
        for ticked, expected in ((None, None), ("on", 14 * 24 * 3600)):
            user, browser = acme.user(), acme.browser()
            form(browser.get("/sign-in")).submit(
                browser, identifier=user.username, password=PASSWORD, keep_signed_in=ticked
            )

            page = forms(browser.get("/account/password"))[-1]
            page.action = "/account/password"
            changed = page.submit(browser, password=PASSWORD, new_password="another good one 2")

            assert lives(changed) == expected

    def test_decision_Q16_registration_ends_with_the_browser(self, acme):
        codes.experience(acme, sign_up={"identifiers": ["username"], "password": True, "verify": False})
        browser = acme.browser()

        answer = browser.post(
            "/api/interaction/register",
            json={"username": "newcomer", "password": PASSWORD, "keep_signed_in": True},
        )

        assert lives(answer) is None


class TestCode:
    @pytest.mark.parametrize("ticked", [None, "on"])
    def test_decision_Q16_the_box_goes_along_to_the_code(self, acme, ticked):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()

        fields = form(browser.get("/sign-in")).fields | {"carry": "yes", "keep_signed_in": ticked}
        typed = {name: value for name, value in fields.items() if value is not None}
        page = browser.get(browser.post("/sign-in/code", data=typed).headers["Location"])
        is_ticked = bool(re.search(r'name="keep_signed_in"[^>]* checked', page.text))
        sent = form(page).submit(browser, identifier=address, keep_signed_in=ticked)
        answer = forms(sent)[0].submit(browser, code=message_to(address)["code"])

        assert is_ticked == bool(ticked)
        assert (lives(answer) is None) == (ticked is None)

    def test_decision_Q16_a_wrong_code_and_a_new_one_keep_the_choice(self, acme):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        page = form(browser.get("/sign-in/code"))
        sent = page.submit(browser, identifier=address, keep_signed_in="on")

        wrong = forms(sent)[0].submit(browser, code="AAAAAA")
        answer = forms(wrong)[0].submit(browser, code=message_to(address)["code"])

        assert wrong.status_code == 400
        assert lives(answer) is not None


class TestProvider:
    @pytest.mark.parametrize("ticked", [None, "on"])
    def test_decision_Q16_the_box_is_kept_with_the_pending_sign_in(self, acme, provider, ticked):
        connect(acme, provider.config)
        browser = acme.browser()
        page = browser.get("/sign-in")
        sent = form(page)
        sent.action = re.findall(r'formaction="([^"]+/social/[^"]+)"', page.text)[0]

        left = sent.submit(browser, identifier="", password="", keep_signed_in=ticked)
        with acme.active():
            stored = SocialAttempt.objects.get().keep_signed_in
        note_redirect_uri(left.headers["Location"])
        answer = back(browser, provider.approve(left.headers["Location"]))

        assert stored == bool(ticked)
        assert (lives(answer) is None) == (ticked is None)

    def test_decision_Q16_a_link_can_say_so_too(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()

        answer = back(browser, provider.approve(away(browser, keep_signed_in="true")))

        assert lives(answer) is not None

    def test_decision_Q16_a_form_without_its_token_or_from_elsewhere_starts_nothing(self, acme, provider):
        connect(acme, provider.config)
        browser = acme.browser()
        page = form(browser.get("/sign-in"))
        page.action = "/social/oidc"

        forged = browser.post(page.action, data={})
        elsewhere = browser.post(page.action, data=page.fields, headers={"Sec-Fetch-Site": "cross-site"})

        assert (forged.status_code, elsewhere.status_code) == (403, 403)
        with acme.active():
            assert not SocialAttempt.objects.exists()

    def test_decision_Q16_without_passwords_the_box_is_there_too(self, acme, provider):
        connect(acme, provider.config)
        code = {"identifier": "email", "password": False, "verification_code": True}
        codes.experience(acme, sign_in={"methods": [code]})

        page = acme.browser().get("/sign-in")

        assert BOX in page.text
        assert page.text.count('form="sign-in"') == 2
        assert page.text.count('id="sign-in"') == 1


class TestApi:
    @pytest.mark.parametrize(
        ("sent", "is_kept"),
        [({}, False), ({"keep_signed_in": False}, False), ({"keep_signed_in": True}, True)],
    )
    def test_decision_Q16_json_takes_it_and_unsaid_is_unticked(self, acme, sent, is_kept):
        address = new_email()
        user = acme.user(email=address)
        by_code = acme.browser()
        code = codes.sent(by_code, address)

        assert (lives(acme.browser().sign_in(user, **sent)) is not None) == is_kept
        assert (lives(codes.enter(by_code, address, code, **sent)) is not None) == is_kept

    @pytest.mark.parametrize("value", [None, "true", 1, 0, [], {}, ""])
    def test_decision_Q16_anything_but_a_boolean_is_refused(self, acme, value):
        user = acme.user()

        assert "keep_signed_in" in refusal_of(acme.browser().sign_in(user, keep_signed_in=value), 400)

    def test_decision_Q16_the_experience_says_that_users_choose(self, acme, rival):
        path = "/api/interaction/sign-in-experience"

        assert acme.get(path).json()["result"]["keep_signed_in"] is True
        assert "keep_signed_in" not in rival.get(path).json()["result"]


class TestSwitchedOff:
    def test_decision_Q16_everything_is_as_before(self, acme, provider):
        connect(acme, provider.config)
        switch_off(acme)
        user = acme.user()

        page = acme.browser().get("/sign-in").text
        plain = acme.browser().sign_in(user)
        said = acme.browser().sign_in(user, keep_signed_in=False)
        code_page = acme.browser().get("/sign-in/code?keep_signed_in=on").text

        assert "keep_signed_in" not in page + code_page
        assert BOX not in page + code_page
        assert 'href="' in page
        assert lives(plain) == lives(said) == 14 * 24 * 3600
        with acme.active():
            assert set(Session.objects.values_list("keep_signed_in", flat=True)) == {None}
