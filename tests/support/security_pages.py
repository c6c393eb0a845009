"""A user at the account pages of second factors."""

from datetime import timedelta

from django.utils import timezone

from identity.sessions.models import Session
from tests.support import account
from tests.support.factors import App
from tests.support.forms import form

AGE = timedelta(minutes=6)  # at which a proof is no longer valid
SECURITY = "/account/security"
ADD = "/account/security/authenticator"
CODES = "/account/security/codes"


def let_proofs_age(acme, *, factor=AGE):
    """Let all sign-ins, and the proofs of second factors, be longer ago than a proof is valid."""
    with acme.active():
        Session.objects.update(auth_time=timezone.now() - AGE)
        Session.objects.exclude(second_factor_at=None).update(second_factor_at=timezone.now() - factor)


def read_key(page):
    """Return the key for an authenticator that a page shows; empty if it shows none."""
    return page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]


def send_form(browser, path, page, **typed):
    """Send the form of a page that was opened before."""
    return account.Sender(browser, path).post("", data=form(page).fields | typed)


def open_and_send(browser, path, **typed):
    """Open a page and send its form."""
    return send_form(browser, path, browser.get(path), **typed)


def add_authenticator(browser, **typed):
    """Set up an authenticator with a correct code."""
    page = browser.get(ADD)
    assert page.status_code == 200
    return send_form(browser, ADD, page, code=App(read_key(page)).code(), **typed)
