"""Who calls in the cases."""

import pytest

from tests.support import management
from tests.support.cast import World
from tests.support.management import Caller


@pytest.fixture
def admin(acme: World) -> Caller:
    """An administrator of everything, at the tenant that a case is about."""
    return management.superuser(acme)
