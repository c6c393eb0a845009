"""A sign-in and a step-up of one user at the same moment take the rows that both need in one order."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from identity.factors.models import Authenticator
from identity.limits.models import Counter
from identity.sessions.models import Session
from identity.users.models import User
from tests.support.factors import BACKUP, TOTP, give_backup_codes, half, signed_in
from tests.support.threads import count_waiting, wait_until

CONFIRM = "/api/my-account/confirm"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
@pytest.mark.parametrize(("kind", "path"), [("Totp", TOTP), ("BackupCode", BACKUP)])
def test_a_step_up_and_a_sign_in_that_continues_its_session_do_not_deadlock(acme, user, app, kind, path):
    browser, other = signed_in(acme, user, app), acme.browser()
    other.http.cookies.update(browser.http.cookies)
    half(other, user)
    with acme.active():
        Authenticator.objects.update(last_step=0)
    code = app.code() if kind == "Totp" else give_backup_codes(acme, user)[0]

    with ThreadPoolExecutor(2) as pool:
        with acme.active(), transaction.atomic():
            Session.objects.select_for_update().get()
            step_up = pool.submit(browser.post, CONFIRM, json={"type": kind, "code": code})
            assert wait_until(lambda: count_waiting() >= 1)
            sign_in = pool.submit(other.post, path, json={"code": code})
            assert wait_until(lambda: count_waiting() >= 2)
        answers = [step_up.result().status_code, sign_in.result().status_code]

    assert answers == [200, 401]


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
def test_a_step_up_locks_the_user_before_the_counter_of_codes_as_a_sign_in_does(acme, user, app):
    browser = signed_in(acme, user, app)
    code = give_backup_codes(acme, user)[0]

    with ThreadPoolExecutor(1) as pool:
        with acme.active(), transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=user.pk)
            step_up = pool.submit(browser.post, CONFIRM, json={"type": "BackupCode", "code": code})
            assert wait_until(lambda: count_waiting() >= 1)
            counters = list(Counter.objects.select_for_update(nowait=True))
        answer = step_up.result()

    assert counters
    assert answer.status_code == 200
