"""Cookies that were copied from a browser, or planted in it, before somebody proved something there."""

import pytest

from identity.factors.models import Authenticator
from identity.users.models import User
from tests.support import codes, factors, management, passkeys
from tests.support.cast import PASSWORD
from tests.support.codes import REGISTER, RESET, message_to, new_email
from tests.support.factors import (
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
from tests.support.proof_cookies import (
    begin_request,
    check_opens_nothing,
    copy_browser,
    find_code_form,
    find_password_form,
    gets_code,
    open_request,
    read_secrets,
    sign_in_on_page,
)

RECOVER = "/api/interaction/mfa/recovery-code"
NEW_PASSWORD = "another password 2"


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
        browser, interaction = open_request(acme, client)
        copy = copy_browser(browser)
        half(browser, user, interaction=interaction)

        answer = copy.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert (answer.status_code, answer.json()["result"]) == (404, {"reason": "nothing_under_way"})
        check_opens_nothing(copy, interaction)
        assert has_session(browser.post(TOTP, json={"code": app.code(), "interaction": interaction}))
        assert gets_code(browser, interaction)
        check_opens_nothing(copy)

    def test_attack_AV30_a_copy_does_not_set_up_a_factor_of_its_own(self, acme, client, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser, interaction = open_request(acme, client)
        copy = copy_browser(browser)
        assert half(browser, user, interaction=interaction)["next"]["step"] == "set_up"

        check_opens_nothing(copy, interaction)

        offer = browser.post(SET_UP, json={"interaction": interaction}).json()["result"]
        entered = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        assert copy.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}).status_code == 404
        assert has_session(browser.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}))
        with acme.active():
            assert Authenticator.objects.count() == 1

    def test_attack_AV30_nor_on_the_pages_without_scripts(self, acme, client, user, app):
        browser, interaction = open_request(acme, client)
        assert find_password_form(browser, interaction)
        copy = copy_browser(browser)
        page = sign_in_on_page(browser, user, interaction)

        stolen = find_code_form(page).submit(copy, code=app.code())

        assert (stolen.status_code, has_session(stolen)) == (303, False)
        check_opens_nothing(copy, interaction)
        assert has_session(find_code_form(page).submit(browser, code=app.code()))
        assert gets_code(browser, interaction)

    def test_attack_AV30_after_a_code_by_mail(self, acme, client, email):
        codes.reachable(switch_on(acme))
        user = acme.user(email=email, email_verified=True)
        app = enrol(acme, user)
        browser, interaction = open_request(acme, client)
        code = codes.sent(browser, email)
        copy = copy_browser(browser)

        answer = codes.enter(browser, email, code, interaction=interaction)

        assert answer.json()["result"]["next"]["step"] == "second_factor"
        check_opens_nothing(copy, interaction)
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
        browser, interaction = open_request(acme, client)
        fields = {"code": code, "interaction": interaction}
        if is_first:
            fields |= {"identifier": user.username}
        else:
            half(browser, user, interaction=interaction)
        copy = copy_browser(browser)

        answer = browser.post(RECOVER, json=fields)

        assert answer.json()["result"]["next"]["step"] == "set_up", answer.text
        check_opens_nothing(copy, interaction)
        offer = browser.post(SET_UP, json={"interaction": interaction}).json()["result"]
        entered = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
        assert has_session(browser.post(SET_UP_VERIFY, json=entered | {"interaction": interaction}))

    def test_attack_AV30_a_registration_that_has_to_set_up_a_factor(self, acme, client):
        switch_on(acme, "Totp", policy="Mandatory")
        browser, interaction = open_request(acme, client)
        copy = copy_browser(browser)

        answer = browser.post(
            REGISTER, json={"username": "ada", "password": PASSWORD, "interaction": interaction}
        )

        assert answer.json()["result"]["next"]["step"] == "set_up"
        check_opens_nothing(copy, interaction)
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
        check_opens_nothing(thief)
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
        copy = copy_browser(browser)
        assert codes.enter(browser, email, code, "forgot_password").status_code == 200

        stolen = self.reset(copy, email)

        assert (stolen.status_code, "enter the verification code" in stolen.text) == (400, True)
        assert "new_password" not in copy.get("/forgot-password").text
        assert self.reset(browser, email).status_code == 200

    def test_attack_AV30_nor_on_the_pages_without_scripts(self, acme, user, email):
        browser = acme.browser()
        asked = form(browser.get("/forgot-password")).submit(browser, identifier=email)
        copy = copy_browser(browser)
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
            copy = copy_browser(browser)
            proven = find_code_form(page).submit(browser, code=app.code())
            assert proven.headers["Location"].endswith("/forgot-password")
        else:
            codes.proven(browser, email, "forgot_password")
            assert self.reset(browser, email).status_code == 401
            copy = copy_browser(browser)
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
        copy = copy_browser(browser)
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
        browser, interaction = open_request(acme, client)
        code = codes.sent(browser, email) if way == "code" else ""
        options = passkeys.ask(browser, "sign_in") if way == "passkey" else {}
        copy = copy_browser(browser)
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
            answer = find_password_form(browser, interaction).submit(browser, **typed(user))
        assert has_session(answer), answer.text

        later = begin_request(browser, client, prompt="login")

        assert is_signed_in(browser)
        assert not is_signed_in(copy)
        assert gets_code(browser, interaction)
        page = copy.get(f"/sign-in?interaction={later}")
        assert (page.status_code, EXPIRED in page.text) == (400, True)
        assert EXPIRED in copy.get(f"/oidc/authorize/{later}").text
        refused = copy.sign_in(user, interaction=later)
        assert (refused.status_code, "interaction: unknown" in refused.json()["message"]) == (400, True)
        assert browser.sign_in(user, interaction=later).status_code == 200
        assert gets_code(browser, later)

    def test_attack_AV30_a_step_up_and_a_confirmed_password_change_the_secrets(self, acme, user, app):
        browser = factors.signed_in(acme, user, app)
        spare = give_backup_codes(acme, user)
        copy = copy_browser(browser)

        answer = browser.post("/api/my-account/confirm", json={"type": "BackupCode", "code": spare[0]})

        assert has_session(answer), answer.text
        assert is_signed_in(browser)
        assert not is_signed_in(copy)
        assert read_secrets(browser)[1:] == read_secrets(copy)

    def test_attack_AV30_signing_out_takes_the_secrets_back(self, acme, client, user):
        browser = acme.browser()
        assert browser.sign_in(user).status_code == 200
        assert read_secrets(browser)

        form(browser.get("/oidc/end-session")).submit(browser)

        assert not is_signed_in(browser)
        assert read_secrets(browser) == []
