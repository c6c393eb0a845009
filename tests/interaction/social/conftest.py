"""Two tenants on a server that may talk to loopback, and a provider of sign-ins."""

import pytest

from tests.support.cast import World


@pytest.fixture
def acme(acme: World, loopback_server: str) -> World:
    return acme.at(loopback_server)


@pytest.fixture
def rival(rival: World, loopback_server: str) -> World:
    return rival.at(loopback_server)
