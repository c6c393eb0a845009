"""Several tabs of one browser: their sign-ins do not disturb each other."""

import pytest

from oidc.grants.models import AuthorizationRequest
from tests.support import codes, passkeys
from tests.support.cast import PASSWORD
from tests.support.codes import REGISTER, new_email
from tests.support.factors import (
    TOTP,
    enrol,
    half,
    has_session,
    switch_on,
)
from tests.support.pages import typed
from tests.support.proof_cookies import (
    begin_request,
    copy_browser,
    find_code_form,
    find_password_form,
    gets_code,
    open_request,
    read_secrets,
    sign_in_on_page,
)


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


class TestTheUsersOwnTabs:
    """What must go on working although each proof changes the secrets."""

    def test_AV30_two_tabs_wait_for_the_second_factor_at_once(self, acme, client, user, app):
        browser, first = open_request(acme, client)
        second = begin_request(browser, client)
        one, other = sign_in_on_page(browser, user, first), sign_in_on_page(browser, user, second)

        done = find_code_form(one).submit(browser, code=app.code())
        also = find_code_form(other).submit(browser, code=app.code())

        assert has_session(done)
        assert has_session(also)
        assert gets_code(browser, second)

    def test_AV30_a_tab_from_before_the_sign_in_goes_on_after_it(self, acme, client, user):
        passkeys.switch_on(acme)
        device = passkeys.device()
        passkeys.enrol(acme, user, device)
        browser, first = open_request(acme, client)
        second, third = begin_request(browser, client), begin_request(browser, client)
        page, options = find_password_form(browser, second), passkeys.ask(browser, "sign_in")

        assert browser.sign_in(user, interaction=first).status_code == 200
        assert page.submit(browser, **typed(user)).status_code == 303
        signed = passkeys.send(browser, "sign_in", device.get(options), interaction=third)

        assert signed.status_code == 200, signed.text
        assert [gets_code(browser, request) for request in (first, second, third)] == [True] * 3

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
        browser, interaction = open_request(acme, client)
        page = find_password_form(browser, interaction)
        lost = page.submit(copy_browser(browser), **typed(user))
        assert lost.status_code == 303

        answer = page.submit(browser, **typed(user))

        if app:
            answer = find_code_form(browser.get(answer.headers["Location"])).submit(browser, code=app.code())
        assert has_session(answer)
        assert gets_code(browser, interaction)

    def test_AV30_going_back_to_the_password_and_on_as_another_user(self, acme, client, user, app):
        other = acme.user()
        others = enrol(acme, other)
        browser, interaction = open_request(acme, client)
        sign_in_on_page(browser, user, interaction)

        again = sign_in_on_page(browser, other, interaction)

        assert find_code_form(again).submit(browser, code=app.code()).status_code == 401
        assert has_session(find_code_form(again).submit(browser, code=others.code()))

    def test_AV30_a_waiting_sign_in_survives_seven_other_proofs(self, acme, client, user, app):
        browser, interaction = open_request(acme, client)
        half(browser, user, interaction=interaction)
        for _ in range(7):
            half(browser, user, interaction=begin_request(browser, client))

        answer = browser.post(TOTP, json={"code": app.code(), "interaction": interaction})

        assert has_session(answer)
        assert len(read_secrets(browser)) == 8

    @pytest.mark.parametrize("cookie", ["", "~", "x", "x~" * 200, "é" * 43, "a" * 43])
    def test_AV30_a_made_up_cookie_opens_nothing_and_breaks_nothing(self, acme, client, user, app, cookie):
        browser, interaction = open_request(acme, client)
        copy = copy_browser(browser)
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
    interaction = begin_request(browser, client, prompt="login")
    with acme.active():
        AuthorizationRequest.objects.update(secret_hash=None)

    assert browser.sign_in(user, interaction=interaction).status_code == 200
    assert gets_code(browser, interaction)
