"""Two tenants on a server that may talk to loopback, and a provider of sign-ins."""

from collections.abc import Iterator

import pytest

from tests.support import openid, second
from tests.support.cast import World
from tests.support.openid import OpenIDProvider


@pytest.fixture(scope="package")
def server(address) -> Iterator[str]:
    """A server that may talk to loopback."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture
def acme(acme: World, server: str) -> World:
    return acme.at(server)


@pytest.fixture
def rival(rival: World, server: str) -> World:
    return rival.at(server)


@pytest.fixture
def provider() -> Iterator[OpenIDProvider]:
    with openid.provider() as made:
        yield made
