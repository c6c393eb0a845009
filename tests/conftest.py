"""Fixtures: one server, database and browser for the whole run, two tenants of its own for each test."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import httpx
import pytest
from django.db import connections
from httpx._transports import default as transports
from playwright.sync_api import Browser

from identity.core import tenancy
from identity.users import passwords
from tests.support import both_ways, budgets, cast, comparison, openid, second, server
from tests.support import chromium as installed
from tests.support.openid import OpenIDProvider
from tests.support.screens import Screens

# Clients that are given no context share one: reading the certificates of the world takes 30 ms.
transports.create_ssl_context = cache(httpx.create_ssl_context)  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """Exempt modules and tests, which stay until the end, from garbage collection."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def database(django_db_blocker: Any) -> Iterator[None]:
    """A real database that tests and server share; what a test writes is committed."""
    with django_db_blocker.unblock():
        server.create_database()
        server.prepare()
        yield
        connections.close_all()
        server.drop_database()


@pytest.fixture(autouse=True)
def browsers() -> Iterator[None]:
    """No browser outlives its test."""
    yield
    cast.close_browsers()


@pytest.fixture(scope="session")
def address(database: None) -> Iterator[str]:
    """The server, run as in production."""
    with server.running(**{comparison.FILE: str(comparison.SEEN)}) as address:
        yield address
    exceeded = budgets.exceeded()
    assert not exceeded, "\n".join(exceeded)
    assert comparison.differences() == []


@pytest.fixture(scope="session")
def loopback_server(address: str) -> Iterator[str]:
    """A second server, which may connect to loopback. Providers of sign-ins answer there."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture(scope="session")
def django_server(address: str) -> Iterator[str]:
    """A second server of the same installation, where Django's handler serves all requests."""
    with both_ways.django_server() as served:
        yield served


@pytest.fixture
def compared(django_server: str) -> Iterator[None]:
    """Each request for a public document gets the same answer from a surface and from Django."""
    with both_ways.compared(django_server):
        yield


@pytest.fixture
def provider() -> Iterator[OpenIDProvider]:
    """A provider of sign-ins, for tenants of ``loopback_server``."""
    with openid.provider() as made:
        yield made


@pytest.fixture
def acme(address: str) -> cast.World:
    """The tenant that a test is about."""
    return cast.new_world("Acme")


@pytest.fixture
def rival(address: str) -> cast.World:
    """Another tenant, whose ids and tokens must be worth nothing in the first."""
    return cast.new_world("Rival")


@pytest.fixture
def default_tenant() -> Iterator[None]:
    """What the test calls, it calls inside the default tenant, where administrators are recorded."""
    with tenancy.using(tenancy.DEFAULT):
        yield


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Every place for hashing in this process is taken, until what this gives is called."""
    places = passwords.HashingQueue(running=1, waiting=0)
    monkeypatch.setattr(passwords, "_queue", places)
    begun, enough = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        enough.wait(30)

    def disperse() -> None:
        enough.set()
        holder.join()

    holder = threading.Thread(target=places.run, args=(hold,))
    holder.start()
    assert begun.wait(10)
    yield disperse
    disperse()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser; without one its tests are skipped, or fail where nothing may be lacking."""
    if installed.find() is None:
        if os.environ.get("GATEHOUSE_REQUIRE_ALL") == "1":
            pytest.fail("there is no Chromium, and GATEHOUSE_REQUIRE_ALL=1 asks for one")
        pytest.skip("there is no Chromium (Debian: apt install chromium-headless-shell)")
    with pytest.MonkeyPatch.context() as patch, installed.running() as browser:
        # Playwright keeps an event loop in this thread, of which Django's ORM is wary.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield browser


@pytest.fixture
def screens(chromium: Browser) -> Iterator[Screens]:
    """Windows of people, each with cookies of its own; what the browser complains of fails the test."""
    opened = Screens(chromium)
    yield opened
    opened.close()
    assert opened.complaints == []
