"""What the tests of security share."""

import pytest

from tests.support.cast import World
from tests.support.in_process import InProcessWorld


@pytest.fixture
def here(acme: World) -> InProcessWorld:
    """The tenant of the test, served by this process."""
    return InProcessWorld.of(acme)
