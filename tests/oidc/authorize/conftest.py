"""Somebody who is signed in at an application that needs no consent."""

from dataclasses import dataclass
from urllib.parse import urlencode

import httpx
import pytest

from tests.support import cast
from tests.support.cast import RelyingParty, signed_in


@dataclass(frozen=True)
class Insider:
    """An application, and a browser that is signed in: for tests that ask and leave no trace."""

    client: RelyingParty
    cookie: str

    def authorize(self, **changes: str | None) -> httpx.Response:
        return self.get(urlencode(self.client.request(**changes)))

    def get(self, query: str) -> httpx.Response:
        return self.client.world.get(f"/oidc/authorize?{query}", headers={"Cookie": self.cookie})

    def post(self, query: str) -> httpx.Response:
        headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
        return self.client.world.post("/oidc/authorize", content=query, headers=headers)


@pytest.fixture(scope="module")
def insider(address: str) -> Insider:
    world = cast.new_world("Inside")
    browser, _ = signed_in(world)
    cookies = "; ".join(f"{name}={value}" for name, value in browser.http.cookies.items())
    return Insider(world.application(), cookies)
