"""Browsers with the secrets that they get with their proofs, and copies of such browsers."""

from tests.support.cast import query_of
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    SET_UP,
    TOTP,
    has_session,
    is_signed_in,
)
from tests.support.forms import forms
from tests.support.pages import typed

PAGE = "/sign-in/second-factor"


def open_request(world, client):
    """Start an authorization in a new browser, and return the browser and the id of the request."""
    browser = world.browser()
    return browser, begin_request(browser, client)


def begin_request(browser, client, **parameters):
    """Start an authorization in a browser, and return the id of the request."""
    return query_of(browser.authorize(client, **parameters).headers["Location"])["interaction"]


def copy_browser(browser):
    """Return another browser with the cookies that a browser has now."""
    copy = browser.world.browser()
    copy.http.cookies.update(browser.http.cookies)
    return copy


def gets_code(browser, interaction):
    """Return whether the application gets a code."""
    answer = browser.get(f"/oidc/authorize/{interaction}")
    return "code" in query_of(answer.headers.get("Location", ""))


def check_opens_nothing(copy, interaction=""):
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


def find_password_form(browser, interaction):
    """Return the form for the password on the page of a request."""
    shown = browser.get(f"/sign-in?interaction={interaction}")
    return next(one for one in forms(shown) if "password" in one.fields)


def sign_in_on_page(browser, user, interaction):
    """Sign in with the password on the page, without scripts, and return the page that follows."""
    answer = find_password_form(browser, interaction).submit(browser, **typed(user))
    assert answer.status_code == 303, answer.text
    assert not has_session(answer)
    return browser.get(answer.headers["Location"])


def find_code_form(page):
    """Return the form of a page that takes a code."""
    return next(one for one in forms(page) if "code" in one.fields)


def read_secrets(browser):
    """Return the secrets that a browser got with its proofs, the newest first."""
    [text] = [item.value for item in browser.http.cookies.jar if "gatehouse-proofs" in item.name] or [""]
    return text.split("~") if text else []
