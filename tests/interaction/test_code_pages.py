"""Signing in by code, making an account and choosing a new password: on pages, without scripts."""

import re
from typing import Any

import httpx
import pytest

from identity.sessions.models import Session
from identity.users.models import User
from tests.support import codes
from tests.support.cast import PASSWORD, Browser, World, query_of
from tests.support.codes import experience, message_to, new_email, new_phone, other_than
from tests.support.forms import form, forms

NEW_PASSWORD = "another good one 2"


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def ask(browser: Browser, path: str, identifier: str) -> httpx.Response:
    """Open a page that asks for an address, and have a code sent there."""
    return form(browser.get(path)).submit(browser, identifier=identifier)


def carry(browser: Browser, page: httpx.Response, path: str, identifier: str) -> httpx.Response:
    """Type an identifier on the sign-in page, and press the button that leads to another page."""
    assert re.search(rf'name="carry"[^>]* formaction="[^"]*{path}[^"]*" formnovalidate', page.text)
    typed = form(page).fields | {"identifier": identifier, "carry": "yes"}
    return browser.get(browser.post(path, data=typed).headers["Location"])


def enter(browser: Browser, page: httpx.Response, code: str) -> httpx.Response:
    return forms(page)[0].submit(browser, code=code)


def without(text: str, address: str) -> str:
    """Return the text of a page without an address, masked or not."""
    local, _, domain = address.partition("@")
    masked = f"{local[0]}•••@{domain}"
    assert masked in text
    return text.replace(address, "…").replace(masked, "…")


def live_sessions(world: World) -> int:
    with world.active():
        return Session.objects.live().count()


def user_of(world: World, **known: Any) -> User:
    with world.active():
        return User.objects.get(**known)


def one_way_only(world: World, *methods: dict[str, Any]) -> None:
    experience(world, sign_in={"methods": list(methods)})


class TestSignInByCode:
    @pytest.mark.parametrize("kind", ["email", "phone"])
    def test_from_the_sign_in_page_to_the_application(self, acme, kind):
        address = {"email": new_email, "phone": new_phone}[kind]()
        acme.user(**{kind: address})
        client, browser = acme.application(), acme.browser()
        page = browser.get(browser.authorize(client).headers["Location"])
        code_page = carry(browser, page, "/sign-in/code", address)

        sent = form(code_page).submit(browser)
        entered = enter(browser, sent, message_to(address)["code"])

        back = browser.get(entered.headers["Location"])
        tokens = client.redeem(query_of(back.headers["Location"])["code"]).json()
        assert "id_token" in tokens
        with acme.active():
            assert Session.objects.get().amr == (["otp"] if kind == "email" else ["otp", "sms"])

    @pytest.mark.parametrize(("kind", "spam"), [("email", True), ("phone", False)])
    def test_only_who_waits_for_an_email_is_sent_to_the_spam_folder(self, acme, kind, spam):
        address = {"email": new_email, "phone": new_phone}[kind]()

        sent = ask(acme.browser(), "/sign-in/code", address)

        assert "get it?" in sent.text
        assert ("spam folder" in sent.text) is spam

    def test_decision_X5_an_unknown_address_sees_the_same_pages(self, acme):
        known, unknown = new_email(), new_email()
        acme.user(email=known)

        pages = {}
        for address in (known, unknown):
            browser = acme.browser()
            sent = ask(browser, "/sign-in/code", address)
            wrong = enter(
                browser, sent, "123456" if address == unknown else other_than(message_to(known)["code"])
            )
            pages[address] = [
                (page.status_code, re.sub(r'value="[^"]{64}"', "", without(page.text, address)))
                for page in (sent, wrong)
            ]

        assert pages[known] == pages[unknown]
        assert codes.messages_to(unknown) == []

    def test_a_wrong_code_is_told_beside_the_field_and_the_right_one_still_works(self, acme):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        sent = ask(browser, "/sign-in/code", address)
        code = message_to(address)["code"]

        wrong = enter(browser, sent, other_than(code))

        assert wrong.status_code == 400
        assert re.search(r'name="code"[^>]*aria-invalid="true"', wrong.text)
        assert "<title>Error: " in wrong.text
        assert enter(browser, wrong, code).status_code == 303

    def test_asking_twice_does_no_harm(self, acme):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        ask(browser, "/sign-in/code", address)

        again = ask(browser, "/sign-in/code", address)

        assert "a moment ago" in again.text
        assert again.headers["Retry-After"]
        assert enter(browser, again, message_to(address)["code"]).status_code == 303

    def test_a_username_is_refused_beside_the_field(self, acme):
        page = ask(acme.browser(), "/sign-in/code", "somebody")

        assert page.status_code == 400
        assert re.search(r'name="identifier"[^>]*aria-invalid="true"', page.text)
        assert 'value="somebody"' in page.text

    def test_another_browser_cannot_enter_the_code(self, acme):
        address = new_email()
        acme.user(email=address)
        ask(acme.browser(), "/sign-in/code", address)
        thief = acme.browser()
        page = form(thief.get("/sign-in/code"))

        answer = page.submit(thief, identifier=address, code=message_to(address)["code"])

        assert answer.status_code == 400
        assert live_sessions(acme) == 0

    def test_another_tenant_knows_nothing_of_it(self, acme, rival):
        codes.reachable(rival)
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        ask(browser, "/sign-in/code", address)
        elsewhere = Browser(rival, browser.http)

        answer = form(elsewhere.get("/sign-in/code")).submit(
            elsewhere, identifier=address, code=message_to(address)["code"]
        )

        assert answer.status_code == 400
        assert live_sessions(rival) == 0

    def test_decision_X7_no_link_without_somebody_who_delivers(self, rival):
        page = rival.browser().get("/sign-in")

        assert "/sign-in/code" not in page.text
        assert "/forgot-password" not in page.text
        assert rival.browser().get("/sign-in/code").headers["Location"].endswith("/sign-in")
        assert rival.browser().get("/forgot-password").status_code == 404

    def test_where_codes_are_the_only_way_the_page_asks_for_the_address_at_once(self, acme):
        one_way_only(acme, {"identifier": "email", "password": False, "verification_code": True})

        answer = acme.browser().get("/sign-in")

        assert answer.headers["Location"].endswith("/sign-in/code")
        page = acme.browser().get(answer.headers["Location"].removeprefix(f"/t/{acme.tenant.slug}"))
        assert 'autocomplete="email"' in page.text
        assert 'inputmode="email"' in page.text

    def test_fields_help_password_managers_and_phones(self, acme):
        address = new_email()
        acme.user(email=address)

        page = ask(acme.browser(), "/sign-in/code", address)

        field = re.search(r'<input class="code"[^>]*>', page.text)
        assert field
        assert 'autocomplete="one-time-code"' in field[0]
        assert 'inputmode="numeric"' in field[0]


class TestRegister:
    def test_makes_an_account_and_goes_on_to_the_application(self, acme):
        client, browser = acme.application(), acme.browser()
        page = browser.get(browser.authorize(client).headers["Location"])
        link = re.search(r'href="([^"]+/register[^"]*)"', page.text)
        assert link

        made = form(browser.get(link[1])).submit(browser, username="ada", name="Ada", password=PASSWORD + "1")

        back = browser.get(made.headers["Location"])
        assert "id_token" in client.redeem(query_of(back.headers["Location"])["code"]).json()
        assert user_of(acme, username="ada").name == "Ada"

    def test_decision_X4_an_email_is_proven_first_and_cannot_be_exchanged(self, acme):
        experience(acme, sign_up={"identifiers": ["username", "email"], "verify": True})
        address, browser = new_email(), acme.browser()

        sent = ask(browser, "/register", address)
        proven = enter(browser, sent, message_to(address)["code"])
        page = browser.get(proven.headers["Location"])
        form(page).submit(browser, username="ada", password=PASSWORD + "1", email="other@example.com")

        assert address in page.text
        user = user_of(acme, username="ada")
        assert (user.email, user.email_verified) == (address, True)

    def test_email_and_phone_are_proven_one_after_the_other(self, acme):
        experience(acme, sign_up={"identifiers": ["email", "phone"], "password": False, "verify": True})
        email, phone, browser = new_email(), new_phone(), acme.browser()

        sent = ask(browser, "/register", email)
        enter(browser, sent, message_to(email)["code"])
        sent = ask(browser, "/register", phone)
        entered = enter(browser, sent, message_to(phone)["code"])
        form(browser.get(entered.headers["Location"])).submit(browser)

        user = user_of(acme, email=email)
        assert (user.phone, user.email_verified, user.phone_verified) == (phone, True, True)
        assert live_sessions(acme) == 1

    def test_says_beside_each_field_what_is_wrong_and_keeps_what_was_typed(self, acme):
        acme.user(username="taken")
        browser = acme.browser()

        page = form(browser.get("/register")).submit(browser, username="taken", password=PASSWORD + "1")

        assert page.status_code == 400
        assert "This is already in use." in page.text
        assert re.search(r'name="username"[^>]*value="taken"[^>]*aria-invalid="true"', page.text, re.DOTALL)
        assert PASSWORD not in page.text

    def test_the_policy_is_told_before_and_after_it_is_broken(self, acme):
        experience(acme, password_policy={"min_length": 12, "require_uppercase": True})
        browser = acme.browser()
        page = browser.get("/register")

        refused = form(page).submit(browser, username="ada", password="short 1")

        for rule in ("Use at least 12 characters", "Add an uppercase letter"):
            assert f">{rule}</li>" in page.text
            assert f"<p>{rule}.</p>" in refused.text
        assert refused.status_code == 400

    def test_where_nobody_may_register_there_is_a_page_that_says_so(self, acme):
        experience(acme, sign_up={"identifiers": []})

        page = acme.browser().get("/register")

        assert page.status_code == 404
        assert "/register" not in acme.browser().get("/sign-in").text

    def test_what_cannot_be_proven_now_is_told(self, rival):
        experience(rival, sign_up={"identifiers": ["email"], "verify": True})

        page = rival.browser().get("/register")

        assert "t send codes right now." in page.text
        assert forms(page) == []


class TestForgotPassword:
    def test_chooses_a_new_password_and_ends_every_session(self, acme):
        address = new_email()
        user = acme.user(email=address)
        acme.browser().sign_in(user)
        browser = acme.browser()

        sent = ask(browser, "/forgot-password", address)
        entered = enter(browser, sent, message_to(address)["code"])
        page = browser.get(entered.headers["Location"])
        changed = form(page).submit(browser, new_password=NEW_PASSWORD)

        assert "Your password is changed" in changed.text
        assert live_sessions(acme) == 0
        assert browser.sign_in(user, password=PASSWORD).status_code == 401
        assert browser.sign_in(user, password=NEW_PASSWORD).status_code == 200

    def test_a_refused_password_can_be_mended(self, acme):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        sent = ask(browser, "/forgot-password", address)
        enter(browser, sent, message_to(address)["code"])

        refused = form(browser.get("/forgot-password")).submit(browser, new_password="short")
        changed = form(refused).submit(browser, new_password=NEW_PASSWORD)

        assert refused.status_code == 400
        assert re.search(r'name="new_password"[^>]*aria-invalid="true"', refused.text, re.DOTALL)
        assert changed.status_code == 200

    def test_without_the_code_there_is_no_field_for_a_password(self, acme):
        address = new_email()
        user = acme.user(email=address)
        browser = acme.browser()
        sent = ask(browser, "/forgot-password", address)

        answer = forms(sent)[0].submit(browser, code=None, identifier=None, new_password=NEW_PASSWORD)

        assert "new_password" not in answer.text
        assert browser.sign_in(user, password=PASSWORD).status_code == 200

    def test_one_can_begin_again_for_another_account(self, acme):
        address = new_email()
        acme.user(email=address)
        browser = acme.browser()
        sent = ask(browser, "/forgot-password", address)
        enter(browser, sent, message_to(address)["code"])

        page = browser.get("/forgot-password?other=1")

        assert 'name="identifier"' in page.text


@pytest.mark.parametrize("path", ["/sign-in/code", "/register", "/forgot-password"])
class TestEach:
    def test_case_B_a_form_of_another_site_is_refused(self, acme, path):
        browser = acme.browser()
        page = form(browser.get(path))

        answer = browser.post(page.action, data=page.fields | {"csrfmiddlewaretoken": "x" * 64})

        assert answer.status_code == 403

    def test_a_request_of_another_browser_is_unknown(self, acme, path):
        client = acme.application()
        other = query_of(acme.browser().authorize(client).headers["Location"])["interaction"]

        assert acme.browser().get(f"{path}?interaction={other}").status_code == 400

    def test_an_interaction_of_another_tenant_is_unknown(self, acme, rival, path):
        browser = rival.browser()
        other = query_of(browser.authorize(rival.application()).headers["Location"])["interaction"]

        assert Browser(acme, browser.http).get(f"{path}?interaction={other}").status_code == 400

    def test_no_answer_is_kept_by_a_cache(self, acme, path):
        assert acme.browser().get(path).headers["Cache-Control"] == "no-store"
