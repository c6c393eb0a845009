"""Cookies that were copied from a browser, or planted in it, before somebody proved something there."""

import pytest

from identity.factors.models import Authenticator
from identity.users.models import User
from oidc.grants.models import AuthorizationRequest
from tests.support import codes, factors, management, passkeys
from tests.support.cast import PASSWORD, query_of
from tests.support.codes import REGISTER, RESET, message_to, new_email
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    SET_UP,
    SET_UP_VERIFY,
    TOTP,
    App,
    enrol,
    give_backup_codes,
    half,
    has_session,
    is_signed_in,
    switch_on,
)
from tests.support.forms import form, forms
from tests.support.management import result_of
from tests.support.pages import EXPIRED, typed

PAGE = "/sign-in/second-factor"
RECOVER = "/api/interaction/mfa/recovery-code"
NEW_PASSWORD = "another password 2"


def opened(world, client):
    """Start an authorization in a new browser, and return the browser and the id of the request."""
    browser = world.browser()
    return browser, begun(browser, client)


def begun(browser, client, **parameters):
    return query_of(browser.authorize(client, **parameters).headers["Location"])["interaction"]


def copied(browser):
    """Another browser with the cookies that a browser has now."""
    copy = browser.world.browser()
    copy.http.cookies.update(browser.http.cookies)
    return copy


def given_code(browser, interaction):
    """Return whether the application gets a code."""
    answer = browser.get(f"/oidc/authorize/{interaction}")
    return "code" in query_of(answer.headers.get("Location", ""))


def opens_nothing(copy, interaction=""):
    """Check that a copy of cookies has to start with the first factor, on the pages and the interface."""
    named = {"interaction": interaction} if interaction else {}
    assert copy.get(NEXT, params=named).json()["result"] == {"step": "sign_in"}
    for path in (SET_UP, SEND):
        assert copy.post(path, json={"type": "EmailVerificationCode"} | named).status_code in {400, 401, 404}
    for path in (TOTP, BACKUP):
        assert copy.post(path, json={"code": "000000"} | named).status_code == 404
    for path in (PAGE, "/sign-in/set-up", "/sign-in/backup-codes"):
        answer = copy.get(path, params=named)
        assert answer.status_code == 303
        assert answer.headers["Location"].partition("?")[0].endswith("/sign-in")
    assert not is_signed_in(copy)


def password_page(browser, interaction):
    """The form for the password on the page of a request."""
    shown = browser.get(f"/sign-in?interaction={interaction}")
    return next(one for one in forms(shown) if "password" in one.fields)


def by_page(browser, user, interaction):
    """Sign in with the password on the page, without scripts, and return the page that follows."""
    answer = password_page(browser, interaction).submit(browser, **typed(user))
    assert answer.status_code == 303, answer.text
    assert not has_session(answer)
    return browser.get(answer.headers["Location"])


def with_code(page):
    """The form of a page that takes a code."""
    return next(one for one in forms(page) if "code" in one.fields)


def secrets_of(browser):
    """The secrets that a browser got with its proofs, the newest first."""
    [text] = [item.value for item in browser.http.cookies.jar if "gatehouse-proofs" in item.name] or [""]
    return text.split("~") if text else []


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def app(acme, user):
    return enrol(switch_on(acme), user)


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def email():
    return new_email()


class TestASignInThatWaits:
    """The first factor is proven, and the second is missing or has to be set up."""

    def test_attack_AV30_a_copy_does_not_prove_the_second_factor(self, acme, client, user, app):
        browser, interaction = opened(acme, client)
        copy = copied(browser)
        half(browser, user, interaction=interaction)

        answer = copy.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert (answer.status_code, answer.json()["result"]) == (404, {"reason": "nothing_under_way"})
        opens_nothing(copy, interaction)
        assert has_session(browser.post(TOTP, json={"code": app.code(), "interaction": interaction}))
        assert given_code(browser, interaction)
        opens_nothing(copy)

    def test_attack_AV30_a_copy_does_not_set_up_a_factor_of_its_own(self, acme, client, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser, interaction = opened(acme, client)
        copy = copied(browser)
        assert half(browser, user, interaction=interaction)["next"]["step"] == "set_up"

        opens_nothing(copy, interaction)

        offer = browser.post(SET_UP, json={"interaction": interaction}).json()["result"]
        entered = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        assert copy.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}).status_code == 404
        assert has_session(browser.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}))
        with acme.active():
            assert Authenticator.objects.count() == 1

    def test_attack_AV30_nor_on_the_pages_without_scripts(self, acme, client, user, app):
        browser, interaction = opened(acme, client)
        assert password_page(browser, interaction)
        copy = copied(browser)
        page = by_page(browser, user, interaction)

        stolen = with_code(page).submit(copy, code=app.code())

        assert (stolen.status_code, has_session(stolen)) == (303, False)
        opens_nothing(copy, interaction)
        assert has_session(with_code(page).submit(browser, code=app.code()))
        assert given_code(browser, interaction)

    def test_attack_AV30_after_a_code_by_mail(self, acme, client, email):
        codes.reachable(switch_on(acme))
        user = acme.user(email=email, email_verified=True)
        app = enrol(acme, user)
        browser, interaction = opened(acme, client)
        code = codes.sent(browser, email)
        copy = copied(browser)

        answer = codes.enter(browser, email, code, interaction=interaction)

        assert answer.json()["result"]["next"]["step"] == "second_factor"
        opens_nothing(copy, interaction)
        assert has_session(browser.post(TOTP, json={"code": app.code(), "interaction": interaction}))

    @pytest.mark.parametrize("is_first", [False, True])
    def test_attack_AV30_after_a_recovery_code(self, acme, client, user, is_first):
        """With a recovery code the user sets up a new factor, and the old ones go."""
        passkeys.switch_on(acme, "Totp", "WebAuthn")
        if is_first:
            with acme.active():
                type(user).objects.filter(pk=user.pk).update(password="")
        enrol(acme, user)
        code = result_of(management.superuser(acme).post(f"/users/{user.pk}/recovery-codes"))["code"]
        browser, interaction = opened(acme, client)
        fields = {"code": code, "interaction": interaction}
        if is_first:
            fields |= {"identifier": user.username}
        else:
            half(browser, user, interaction=interaction)
        copy = copied(browser)

        answer = browser.post(RECOVER, json=fields)

        assert answer.json()["result"]["next"]["step"] == "set_up", answer.text
        opens_nothing(copy, interaction)
        offer = browser.post(SET_UP, json={"interaction": interaction}).json()["result"]
        entered = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        assert has_session(browser.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}))

    def test_attack_AV30_a_registration_that_has_to_set_up_a_factor(self, acme, client):
        switch_on(acme, "Totp", policy="Mandatory")
        browser, interaction = opened(acme, client)
        copy = copied(browser)

        answer = browser.post(
            REGISTER, json={"username": "ada", "password": PASSWORD, "interaction": interaction}
        )

        assert answer.json()["result"]["next"]["step"] == "set_up"
        opens_nothing(copy, interaction)
        assert browser.post(SET_UP, json={"interaction": interaction}).status_code == 200

    def test_attack_AV30_planted_cookies_share_nothing(self, acme, user, app):
        """A thief begins a sign-in, plants the cookies in another browser, and waits for its user."""
        other = acme.user()
        enrol(acme, other)
        thief, planted = acme.browser(), acme.browser()
        half(thief, other)
        planted.http.cookies.update(thief.http.cookies)

        half(planted, user)

        assert thief.post(TOTP, json={"code": app.code()}).status_code == 404
        opens_nothing(thief)
        assert has_session(planted.post(TOTP, json={"code": app.code()}))

    def test_attack_AV30_a_browser_without_cookies_gets_them(self, acme, user, app):
        browser = acme.browser()

        half(browser, user)

        assert sorted(name.partition(".")[0] for name in browser.http.cookies) == [
            "gatehouse-browser",
            "gatehouse-proofs",
        ]
        assert has_session(browser.post(TOTP, json={"code": app.code()}))


class TestACodeThatWasEntered:
    @pytest.fixture
    def user(self, acme, email):
        codes.reachable(switch_on(acme))
        return acme.user(email=email, email_verified=True)

    def reset(self, browser, email):
        return browser.post(RESET, json={"identifier": email, "new_password": NEW_PASSWORD})

    def test_attack_AV30_a_copy_does_not_set_the_password(self, acme, user, email):
        browser = acme.browser()
        code = codes.sent(browser, email, "forgot_password")
        copy = copied(browser)
        assert codes.enter(browser, email, code, "forgot_password").status_code == 200

        stolen = self.reset(copy, email)

        assert (stolen.status_code, "enter the verification code" in stolen.text) == (400, True)
        assert "new_password" not in copy.get("/forgot-password").text
        assert self.reset(browser, email).status_code == 200

    def test_attack_AV30_nor_on_the_pages_without_scripts(self, acme, user, email):
        browser = acme.browser()
        asked = form(browser.get("/forgot-password")).submit(browser, identifier=email)
        copy = copied(browser)
        answer = forms(asked)[0].submit(browser, code=message_to(email)["code"])
        page = browser.get(answer.headers["Location"])

        stolen = form(page).submit(copy, new_password=NEW_PASSWORD)
        unchanged = acme.browser().sign_in(user).status_code
        done = form(page).submit(browser, new_password=NEW_PASSWORD)

        assert 'name="new_password"' in page.text
        assert (stolen.status_code, unchanged, done.status_code) == (400, 200, 200)
        assert acme.browser().sign_in(user, NEW_PASSWORD).status_code == 200

    @pytest.mark.parametrize("has_pages", [False, True])
    def test_attack_AV30_a_copy_from_before_the_second_factor_does_not_either(
        self, acme, user, email, app, has_pages
    ):
        browser = acme.browser()
        if has_pages:
            asked = form(browser.get("/forgot-password")).submit(browser, identifier=email)
            answer = forms(asked)[0].submit(browser, code=message_to(email)["code"])
            page = browser.get(answer.headers["Location"])
            copy = copied(browser)
            proven = with_code(page).submit(browser, code=app.code())
            assert proven.headers["Location"].endswith("/forgot-password")
        else:
            codes.proven(browser, email, "forgot_password")
            assert self.reset(browser, email).status_code == 401
            copy = copied(browser)
            assert browser.post(TOTP, json={"code": app.code()}).status_code == 200

        stolen = self.reset(copy, email)

        assert stolen.status_code == 401
        assert self.reset(browser, email).status_code == 200

    def test_attack_AV30_a_copy_does_not_register(self, acme):
        codes.reachable(acme)
        email = new_email()
        codes.experience(acme, sign_up={"identifiers": ["email"], "password": True, "verify": True})
        browser = acme.browser()
        code = codes.sent(browser, email, "register")
        copy = copied(browser)
        assert codes.enter(browser, email, code, "register").status_code == 200

        stolen = copy.post(REGISTER, json={"email": email, "password": PASSWORD})

        assert (stolen.status_code, "enter the verification code" in stolen.text) == (400, True)
        assert email not in copy.get("/register").text
        assert has_session(browser.post(REGISTER, json={"email": email, "password": PASSWORD}))


class TestASession:
    """What a copy from before the sign-in opens afterwards."""

    @pytest.mark.parametrize("way", ["password", "code", "passkey", "register", "page"])
    def test_attack_AV30_a_copy_is_not_signed_in_and_opens_no_later_request(self, acme, client, email, way):
        passkeys.switch_on(codes.reachable(acme))
        user, device = acme.user(email=email, email_verified=True), passkeys.device()
        passkeys.enrol(acme, user, device)
        browser, interaction = opened(acme, client)
        code = codes.sent(browser, email) if way == "code" else ""
        options = passkeys.ask(browser, "sign_in") if way == "passkey" else {}
        copy = copied(browser)
        if way == "password":
            answer = browser.sign_in(user, interaction=interaction)
        elif way == "code":
            answer = codes.enter(browser, email, code, interaction=interaction)
        elif way == "passkey":
            answer = passkeys.send(browser, "sign_in", device.get(options), interaction=interaction)
        elif way == "register":
            fields = {"username": "ada", "password": PASSWORD, "interaction": interaction}
            answer = browser.post(REGISTER, json=fields)
            with acme.active():
                user = User.objects.get(username="ada")
        else:
            answer = password_page(browser, interaction).submit(browser, **typed(user))
        assert has_session(answer), answer.text

        later = begun(browser, client, prompt="login")

        assert is_signed_in(browser)
        assert not is_signed_in(copy)
        assert given_code(browser, interaction)
        page = copy.get(f"/sign-in?interaction={later}")
        assert (page.status_code, EXPIRED in page.text) == (400, True)
        assert EXPIRED in copy.get(f"/oidc/authorize/{later}").text
        refused = copy.sign_in(user, interaction=later)
        assert (refused.status_code, "interaction: unknown" in refused.json()["message"]) == (400, True)
        assert browser.sign_in(user, interaction=later).status_code == 200
        assert given_code(browser, later)

    def test_attack_AV30_a_step_up_and_a_confirmed_password_change_the_secrets(self, acme, user, app):
        browser = factors.signed_in(acme, user, app)
        spare = give_backup_codes(acme, user)
        copy = copied(browser)

        answer = browser.post("/api/my-account/confirm", json={"type": "BackupCode", "code": spare[0]})

        assert has_session(answer), answer.text
        assert is_signed_in(browser)
        assert not is_signed_in(copy)
        assert secrets_of(browser)[1:] == secrets_of(copy)

    def test_attack_AV30_signing_out_takes_the_secrets_back(self, acme, client, user):
        browser = acme.browser()
        assert browser.sign_in(user).status_code == 200
        assert secrets_of(browser)

        form(browser.get("/oidc/end-session")).submit(browser)

        assert not is_signed_in(browser)
        assert secrets_of(browser) == []


class TestTheUsersOwnTabs:
    """What must go on working although each proof changes the secrets."""

    def test_AV30_two_tabs_wait_for_the_second_factor_at_once(self, acme, client, user, app):
        browser, first = opened(acme, client)
        second = begun(browser, client)
        one, other = by_page(browser, user, first), by_page(browser, user, second)

        done = with_code(one).submit(browser, code=app.code())
        also = with_code(other).submit(browser, code=app.code())

        assert has_session(done)
        assert has_session(also)
        assert given_code(browser, second)

    def test_AV30_a_tab_from_before_the_sign_in_goes_on_after_it(self, acme, client, user):
        passkeys.switch_on(acme)
        device = passkeys.device()
        passkeys.enrol(acme, user, device)
        browser, first = opened(acme, client)
        second, third = begun(browser, client), begun(browser, client)
        page, options = password_page(browser, second), passkeys.ask(browser, "sign_in")

        assert browser.sign_in(user, interaction=first).status_code == 200
        assert page.submit(browser, **typed(user)).status_code == 303
        signed = passkeys.send(browser, "sign_in", device.get(options), interaction=third)

        assert signed.status_code == 200, signed.text
        assert [given_code(browser, request) for request in (first, second, third)] == [True] * 3

    def test_AV30_two_addresses_are_proven_one_after_the_other(self, acme):
        codes.reachable(acme)
        email, phone = new_email(), codes.new_phone()
        codes.experience(acme, sign_up={"identifiers": ["email", "phone"], "password": True, "verify": True})
        browser = acme.browser()
        for address in (email, phone):
            codes.proven(browser, address, "register")

        answer = browser.post(REGISTER, json={"email": email, "phone": phone, "password": PASSWORD})

        assert has_session(answer), answer.text

    @pytest.mark.parametrize("has_factor", [False, True])
    def test_AV30_a_lost_answer_to_the_password_and_a_repeated_request(self, acme, client, user, has_factor):
        app = enrol(switch_on(acme), user) if has_factor else None
        browser, interaction = opened(acme, client)
        page = password_page(browser, interaction)
        lost = page.submit(copied(browser), **typed(user))
        assert lost.status_code == 303

        answer = page.submit(browser, **typed(user))

        if app:
            answer = with_code(browser.get(answer.headers["Location"])).submit(browser, code=app.code())
        assert has_session(answer)
        assert given_code(browser, interaction)

    def test_AV30_going_back_to_the_password_and_on_as_another_user(self, acme, client, user, app):
        other = acme.user()
        others = enrol(acme, other)
        browser, interaction = opened(acme, client)
        by_page(browser, user, interaction)

        again = by_page(browser, other, interaction)

        assert with_code(again).submit(browser, code=app.code()).status_code == 401
        assert has_session(with_code(again).submit(browser, code=others.code()))

    def test_AV30_a_waiting_sign_in_survives_seven_other_proofs(self, acme, client, user, app):
        browser, interaction = opened(acme, client)
        half(browser, user, interaction=interaction)
        for _ in range(7):
            half(browser, user, interaction=begun(browser, client))

        answer = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert has_session(answer)
        assert len(secrets_of(browser)) == 8

    @pytest.mark.parametrize("cookie", ["", "~", "x", "x~" * 200, "é" * 43, "a" * 43])
    def test_AV30_a_made_up_cookie_opens_nothing_and_breaks_nothing(self, acme, client, user, app, cookie):
        browser, interaction = opened(acme, client)
        copy = copied(browser)
        half(browser, user, interaction=interaction)
        made_up = f"gatehouse-proofs.{acme.tenant.slug}={cookie}"
        kept = "; ".join(f"{name}={value}" for name, value in copy.http.cookies.items())

        answer = acme.post(
            TOTP,
            json={"code": app.code(), "interaction": interaction},
            headers={"Cookie": f"{kept}; {made_up}".encode()},
        )

        assert answer.status_code == 404


def test_AV30_a_request_of_the_release_before_still_goes_on(acme, client, user):
    """Its nodes store no secret."""
    browser = acme.browser()
    assert browser.sign_in(user).status_code == 200
    interaction = begun(browser, client, prompt="login")
    with acme.active():
        AuthorizationRequest.objects.update(secret_hash=None)

    assert browser.sign_in(user, interaction=interaction).status_code == 200
    assert given_code(browser, interaction)
