"""What both front doors and the connectors are tried with."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import codes, providers
from tests.support.cast import World


@pytest.fixture
def development(settings):
    """Loopback may be reached."""
    settings.DEVELOPMENT = True


@pytest.fixture
def web_provider(development):
    with providers.web_provider() as provider:
        yield provider


@pytest.fixture
def acme_active(acme: World) -> Iterator[None]:
    """What the test calls, it calls inside its tenant."""
    with acme.active():
        yield


@pytest.fixture
def connections(monkeypatch) -> list[Any]:
    """What somebody tried to connect to."""
    tried: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: tried.append(address))
    return tried


@pytest.fixture
def reachable(acme):
    """The tenant of the test, with connectors that put messages into files."""
    return codes.reachable(acme)
