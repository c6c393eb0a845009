"""The stage of attacks by way of other providers: a server that may talk to loopback, and the providers."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import openid, second
from tests.support.cast import World
from tests.support.openid import OpenIDProvider
from tests.support.providers import web_provider
from tests.support.social import HonestProvider


@pytest.fixture(autouse=True)
def development(settings: Any) -> None:
    """Loopback may be reached."""
    settings.DEVELOPMENT = True


@pytest.fixture(scope="module")
def server(address: str) -> Iterator[str]:
    """A server that may talk to loopback."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture
def acme(acme: World, server: str) -> World:
    return acme.at(server)


@pytest.fixture
def provider() -> Iterator[OpenIDProvider]:
    with openid.provider() as made:
        yield made


@pytest.fixture
def honest() -> Iterator[HonestProvider]:
    with web_provider() as web:
        made = HonestProvider(web)
        web.answers["/token"] = made.token
        yield made
