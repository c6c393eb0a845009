"""What attacks share: a server with limits of its own, and administrators who must prove themselves."""

from collections.abc import Iterator

import pytest

from tests.support import codes, old_tokens, operators, second
from tests.support.cast import World
from tests.support.management import Caller
from tests.support.operators import Operator
from tests.support.site_sessions import age


@pytest.fixture(scope="module")
def guarded(address: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """A server with the settings of the module, ``SERVER``, behind a proxy that the tests are."""
    with second.running(TRUSTED_PROXIES="127.0.0.1", **request.module.SERVER) as address_:
        yield address_


@pytest.fixture
def world(guarded: str, acme: World) -> World:
    """The tenant of the test at that server, which can send messages."""
    return codes.reachable(acme.at(guarded))


@pytest.fixture
def thief(acme: World) -> Caller:
    """An administrator of the tenant with a token that is a minute too old for a proof."""
    return old_tokens.new_thief(acme)


@pytest.fixture
def recent(acme: World) -> Caller:
    """An administrator of the tenant with a token that is old, but not too old."""
    return old_tokens.new_recent(acme)


@pytest.fixture
def old_session(acme: World) -> Operator:
    """An administrator in the console, in a session that is too old for a proof."""
    operator = operators.at(acme)
    age(operator)
    return operator
