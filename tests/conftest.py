"""Fixtures: one server and one database for the whole run, two tenants of its own for each test."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections

from tests.support import cast, server


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
    with server.running() as address:
        yield address


@pytest.fixture
def acme(address: str) -> cast.World:
    """The tenant that a test is about."""
    return cast.new_world("Acme")


@pytest.fixture
def rival(address: str) -> cast.World:
    """Another tenant, whose ids and tokens must be worth nothing in the first."""
    return cast.new_world("Rival")
