"""A server whose worker serves requests in batches, and clients that have used it so often that it does."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

from tests.support import second
from tests.support.cast import RelyingParty, World
from tests.support.simultaneous import (
    Request,
    code_request,
    entries_locked,
    refresh_request,
    send,
    sending,
    token_request,
    wait_for_waiting,
)

only_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pipelines")
THREADS = 4
METRICS_TOKEN = "a-token-of-the-metrics-of-batched-requests"
# The application of production, which the server of the run replaces by one that counts statements.
SETTINGS = {
    "TEST_APPLICATION": "config.wsgi:application",
    "TRUSTED_PROXIES": "127.0.0.1",
    "THREADS": str(THREADS),
    "METRICS_TOKEN": METRICS_TOKEN,
}


@contextmanager
def running(**changed: str) -> Iterator[str]:
    """Serve with one worker, unless a variable changes that, and yield the address."""
    with second.running(**SETTINGS | changed) as served:
        yield served


def new_machine(world: World) -> RelyingParty:
    """Return a client with a plan, whose statement each thread has prepared."""
    client = world.application("MachineToMachine")
    prepare(client)
    return client


def prepare(client: RelyingParty) -> None:
    """Request so many tokens that each thread prepares the statement of the client's plan."""
    for _ in range(10):
        assert send([token_request(client) for _ in range(8)]) == [200] * 8


def new_families(world: World, number: int) -> tuple[RelyingParty, list[dict[str, Any]]]:
    """Return a client with tokens of so many families, refreshed until all statements are prepared."""
    client, user = world.application(), world.user(name="Ada")
    browser = world.browser()
    tokens = [client.tokens_for(user, browser) for _ in range(number)]
    return client, refresh_all(client, tokens, times=5)


def refresh_all(client: RelyingParty, tokens: list[dict[str, Any]], times: int = 1) -> list[dict[str, Any]]:
    """Refresh tokens of several families at the same moment, and return the newest ones."""
    for _ in range(times):
        requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
        assert send(requests) == [200] * len(tokens), [request.content for request in requests]
        tokens = [request.json for request in requests]
    return tokens


def new_codes(world: World, number: int, **asked: str) -> tuple[RelyingParty, list[str]]:
    """Return a client with codes of so many users, after enough requests to prepare all statements."""
    client, browser, first = world.application(), world.browser(), world.user()
    for _ in range(5):
        codes = [browser.code_for(client, first, **asked) for _ in range(4)]
        assert send([code_request(client, code) for code in codes]) == [200] * 4
    return client, [world.browser().code_for(client, world.user(), **asked) for _ in range(number)]


def origin(number: int) -> dict[str, str]:
    """Return headers that differ for each number: a browser's, and the address of a client."""
    return {"User-Agent": f"client/{number} \xe9", "X-Forwarded-For": f"203.0.113.{number}"}


def origins_of(request: Request) -> list[tuple[Any, ...]]:
    """Return the tenant, the browser and the address of each audit entry of a request."""
    """Return the tenant, the user agent and the address of each entry of a request."""
    return [(entry.tenant_id, entry.user_agent, entry.ip) for entry in request.entries]


def send_together(client: RelyingParty) -> list[Request]:
    """Send 40 requests while entries are locked, so that they wait for each other."""
    requests = [token_request(client) for _ in range(40)]
    with entries_locked() as session, sending(requests):
        wait_for_waiting(1)
        session.rollback()
    return requests


@contextmanager
def refusing(
    client: RelyingParty, event: str, kind: str = "", does: str = "RAISE EXCEPTION 'refused'"
) -> Iterator[None]:
    """Have a trigger refuse the entries of a client, or do something else about them."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute(
            f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NEW.application_id = '{client.application.pk}' THEN {does}; END IF; RETURN NEW; END $$"
        )
        session.execute(f"CREATE {kind} TRIGGER refuse {event} FOR EACH ROW EXECUTE FUNCTION refuse()")
        try:
            yield
        finally:
            session.execute("DROP TRIGGER refuse ON audit_entry; DROP FUNCTION refuse()")
