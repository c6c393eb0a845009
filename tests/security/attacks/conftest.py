"""What several attacks need: a server with limits of their own, and the tenant of the test there."""

from collections.abc import Iterator

import pytest

from tests.support import codes, second
from tests.support.cast import World


@pytest.fixture(scope="module")
def guarded(address: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with the settings of the module, ``SERVER``, behind a proxy that the tests are."""
    with second.running(TRUSTED_PROXIES="127.0.0.1", **request.module.SERVER) as address_:
        yield address_


@pytest.fixture
def world(guarded: str, acme: World) -> World:
    """The tenant of the test at that server, which can send messages."""
    return codes.reachable(acme.at(guarded))
