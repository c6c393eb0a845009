"""A sign-in and a step-up of one user at the same moment take the rows that both need in one order."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from identity.factors.models import Authenticator
from identity.sessions.models import Session
from tests.support.factors import TOTP, enrol, half, signed_in, switch_on
from tests.support.threads import count_waiting, wait_until

CONFIRM = "/api/my-account/confirm"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite lets one transaction write at a time")
def test_a_step_up_and_a_sign_in_that_continues_its_session_do_not_deadlock(acme):
    switch_on(acme)
    user = acme.user()
    app = enrol(acme, user)
    browser, other = signed_in(acme, user, app), acme.browser()
    other.http.cookies.update(browser.http.cookies)
    half(other, user)
    with acme.active():
        Authenticator.objects.update(last_step=0)
    code = app.code()

    with ThreadPoolExecutor(2) as pool:
        with acme.active(), transaction.atomic():
            Session.objects.select_for_update().get()
            step_up = pool.submit(browser.post, CONFIRM, json={"type": "Totp", "code": code})
            assert wait_until(lambda: count_waiting() >= 1)
            sign_in = pool.submit(other.post, TOTP, json={"code": code})
            assert wait_until(lambda: count_waiting() >= 2)
        answers = [step_up.result().status_code, sign_in.result().status_code]

    assert answers == [200, 401]
