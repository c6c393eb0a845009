"""AV10a: a third party that repeats silent requests while its user presses Disconnect."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from oidc.grants.models import Consent
from tests.support.cast import Browser, RelyingParty
from tests.support.third_parties import Estate, connect, disconnect, silent
from tests.support.threads import rounds

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)


@contextmanager
def greedy(browser: Browser, client: RelyingParty, codes: list[str]) -> Iterator[threading.Semaphore]:
    """Ask for codes without a page, again and again, in threads of their own.

    Each code releases the semaphore that this yields.
    """
    enough, issued = threading.Event(), threading.Semaphore(0)

    def work() -> None:
        own = Browser(browser.world)
        own.http.cookies.update(browser.http.cookies)
        while not enough.is_set():
            code = silent(own, client).get("code")
            if code:
                codes.append(code)
                issued.release()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield issued
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def test_attack_AV10a_a_code_that_was_issued_during_disconnect_buys_nothing_that_lives(acme):
    estate = Estate(acme)
    browser = estate.browser()
    raced = 0
    for _ in range(rounds(24)):
        client = acme.application(is_third_party=True)
        connect(browser, client)
        codes: list[str] = []

        with greedy(browser, client, codes) as issued:
            assert [issued.acquire(timeout=60) for _ in range(3)] == [True] * 3
            disconnect(browser, client)

        bought = [answer.json() for answer in map(client.redeem, codes) if answer.status_code == 200]
        raced += len(codes)
        assert [tokens for tokens in bought if is_alive(client, tokens)] == []
        with acme.active():
            assert not Consent.objects.filter(application=client.application).exists()
        connect(browser, client)  # agreeing again wakes none of them
        assert [tokens for tokens in bought if is_alive(client, tokens)] == []
        assert client.application.name in browser.get("/account/applications").text
    assert raced > rounds(24)


def is_alive(client: RelyingParty, tokens: dict[str, Any]) -> bool:
    return (
        client.userinfo(tokens["access_token"]).status_code == 200
        or client.refresh(tokens["refresh_token"]).status_code == 200
    )
