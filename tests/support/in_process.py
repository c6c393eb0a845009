"""A tenant that is served by the test's own process, over the whole stack but without a network.

A state machine makes thousands of requests, and a test that breaks the product on purpose has to reach it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import httpx
from django.core.handlers.wsgi import WSGIHandler

from config.server import surfaces
from identity.tenants.middleware import get_cached
from tests.support.cast import Browser, World, new_world


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()


@cache
def _transport() -> httpx.WSGITransport:
    return httpx.WSGITransport(app=_handler(), raise_app_exceptions=True)


def new_client() -> httpx.Client:
    """Return a client with cookies of its own that asks this process."""
    return httpx.Client(transport=_transport())


def _surfaces_first(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    answer = surfaces.serve(environ)
    if answer is None:
        return _handler()(environ, start_response)
    start_response(answer.status_line, list(answer.headers.items()))
    return (answer.body,)


@dataclass(frozen=True)
class InProcessWorld(World):
    """The same tenant as another world's; its browsers and applications ask this process.

    Django's handler serves all requests, as those that no surface serves.
    """

    @classmethod
    def of(cls, world: World) -> Self:
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


@dataclass(frozen=True)
class SurfacesWorld(InProcessWorld):
    """The same, with surfaces: a request for which there is an issuing plan is answered by the plan."""

    @classmethod
    def known(cls) -> Self:
        """A new tenant, which this process knows already."""
        world = cls.of(new_world("Acme"))
        world.get("/.well-known/openid-configuration")
        assert get_cached(world.tenant.slug)
        return world

    def _ask(self, method: str, path: str, options: dict[str, Any]) -> httpx.Response:
        with httpx.Client(transport=httpx.WSGITransport(app=_surfaces_first)) as client:
            return client.request(method, f"{self.address}{path}", **options)
