"""Fixtures for the tests of batches."""

from collections.abc import Iterator

import pytest

from tests.support import batching, cast
from tests.support.cast import RelyingParty, World


@pytest.fixture(scope="module")
def batching_server(address: str) -> Iterator[str]:
    """The address of a server with one worker that serves requests in batches."""
    with batching.running() as served:
        yield served


@pytest.fixture
def here(batching_server: str) -> World:
    """A new tenant at this server."""
    return cast.new_world("Batches").at(batching_server)


@pytest.fixture
def machine(here: World) -> RelyingParty:
    """A client of this tenant with a plan, whose statement each thread has prepared."""
    return batching.new_machine(here)
