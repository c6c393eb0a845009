"""Requests of an administrator while another change is not committed."""

from identity.core import tenancy
from tests.support import management
from tests.support.administrator_tokens import sign_in
from tests.support.cast import PASSWORD, default_world
from tests.support.database_locks import send_meanwhile


def caller(who):
    token = sign_in(username=who.username, password=PASSWORD).json()["result"]["access_token"]
    return management.Caller(default_world(), token)


def sent_meanwhile(change, request):
    """Send a request while a change is not committed, and return the response."""
    return send_meanwhile(tenancy.using(tenancy.DEFAULT), change, request)


def is_ended(answer):
    assert answer.status_code == 403, answer.text
    assert answer.json()["message"] == "your session has ended meanwhile: sign in again"
