"""A tenant that is served by the test's own process, over the whole stack but without a network.

A state machine makes thousands of requests, and a test that breaks the product on purpose has to reach it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from django.core.handlers.wsgi import WSGIHandler

from tests.support.cast import Browser, World


@cache
def _transport() -> httpx.WSGITransport:
    return httpx.WSGITransport(app=WSGIHandler(), raise_app_exceptions=True)


def new_client() -> httpx.Client:
    """Return a client with cookies of its own that asks this process."""
    return httpx.Client(transport=_transport())


@dataclass(frozen=True)
class InProcessWorld(World):
    """The same tenant as another world's; its browsers and applications ask this process."""

    @classmethod
    def of(cls, world: World) -> "InProcessWorld":
        return cls(world.tenant, world.address)

    def browser(self) -> Browser:
        return Browser(self, new_client())

    def get(self, path: str, **options: Any) -> httpx.Response:
        return self._ask("GET", path, options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return self._ask("POST", path, options)

    def _ask(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        with new_client() as client:
            return client.request(method, f"{self.address}{path}", **options)
