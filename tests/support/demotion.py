"""Requests of an administrator while another change is not committed."""

from concurrent.futures import ThreadPoolExecutor

from django.db import transaction

from identity.core import tenancy
from tests.support import management
from tests.support.administrator_tokens import sign_in
from tests.support.cast import PASSWORD, default_world
from tests.support.database_locks import is_blocking
from tests.support.threads import wait_until


def caller(who):
    token = sign_in(username=who.username, password=PASSWORD).json()["result"]["access_token"]
    return management.Caller(default_world(), token)


def sent_meanwhile(change, request):
    """Send a request while a change is not committed, and return the response."""
    with ThreadPoolExecutor(1) as threads, tenancy.using(tenancy.DEFAULT):
        with transaction.atomic():
            change()
            sent = threads.submit(request)
            assert wait_until(lambda: sent.done() or is_blocking())
        return sent.result()


def is_ended(answer):
    assert answer.status_code == 403, answer.text
    assert answer.json()["message"] == "your session has ended meanwhile: sign in again"
