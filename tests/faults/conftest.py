"""Faults bring databases, servers and nodes of their own, and run only in a thorough run."""

import itertools
import os
from collections.abc import Iterator

import pytest
from django.db import connection

from tests.support import installation as installations
from tests.support import postgres_server, report
from tests.support.installation import Installation
from tests.support.postgres_server import PostgresServer

_THOROUGH = bool(os.environ.get("GATEHOUSE_THOROUGH"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these out of a quick run, and run them once."""
    for item in items:
        if "/tests/faults/" not in str(item.path):
            continue
        if not _THOROUGH:
            item.add_marker(pytest.mark.skip(reason="takes minutes: only with GATEHOUSE_THOROUGH=1"))
        if connection.vendor != "postgresql":
            item.add_marker(pytest.mark.skip(reason="brings its own databases: once, with PostgreSQL"))


@pytest.fixture(scope="session")
def postgres(database: None) -> Iterator[PostgresServer]:
    """A server of PostgreSQL for all faults."""
    with postgres_server.running() as running:
        yield running


_names = itertools.count()


@pytest.fixture
def installation(postgres: PostgresServer) -> Iterator[Installation]:
    """An installation on it, without a node yet."""
    with installations.installed(postgres, f"fault_{next(_names)}") as made:
        yield made


@pytest.fixture
def measured(request: pytest.FixtureRequest) -> report.Measured:
    """What a test measured, for ``docs/faults.md``."""
    return report.Measured(request.node.name)
