"""The stage of attacks by way of other providers: a server that may talk to loopback, and the providers."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cast import World
from tests.support.providers import web_provider
from tests.support.social import HonestProvider


@pytest.fixture(autouse=True)
def development(settings: Any) -> None:
    """Loopback may be reached."""
    settings.DEVELOPMENT = True


@pytest.fixture
def acme(acme: World, loopback_server: str) -> World:
    return acme.at(loopback_server)


@pytest.fixture
def honest() -> Iterator[HonestProvider]:
    with web_provider() as web:
        made = HonestProvider(web)
        web.answers["/token"] = made.token
        yield made
