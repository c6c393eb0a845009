"""What journeys in a real browser come back to, and whether scripts run there."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.callback import Site


@pytest.fixture
def site() -> Iterator[Site]:
    """The application's own web site, on loopback."""
    with Site() as running:
        yield running


@pytest.fixture
def onward(site: Site) -> Iterator[Site]:
    """A second site on another port, to which the first hands the browser on."""
    with Site() as second:
        site.onward = f"{second.origin}/home"
        yield second


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def scripts(request: pytest.FixtureRequest) -> Any:
    return request.param
