"""A real browser for the journeys, and what they come back to."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support import chromium as installed
from tests.support.callback import Site
from tests.support.screens import Screens


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser; without one its tests are skipped, or fail where nothing may be lacking."""
    if installed.find() is None:
        if os.environ.get("GATEHOUSE_REQUIRE_ALL") == "1":
            pytest.fail("there is no Chromium, and GATEHOUSE_REQUIRE_ALL=1 asks for one")
        pytest.skip("there is no Chromium (Debian: apt install chromium)")
    with pytest.MonkeyPatch.context() as patch, installed.running() as browser:
        # Playwright keeps an event loop in this thread, of which Django's ORM is wary.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield browser


@pytest.fixture
def screens(chromium: Browser) -> Iterator[Screens]:
    """Windows of people, each with cookies of its own; what the browser complains of fails the test."""
    opened = Screens(chromium)
    yield opened
    opened.close()
    assert opened.complaints == []


@pytest.fixture
def site() -> Iterator[Site]:
    """The application's own web site, on loopback."""
    with Site() as running:
        yield running


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def scripts(request: pytest.FixtureRequest) -> Any:
    return request.param
