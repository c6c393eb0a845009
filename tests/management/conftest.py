"""Fixtures for the management API: its callers."""

import pytest

from tests.support import management
from tests.support.cast import World
from tests.support.management import Caller


@pytest.fixture
def admin(acme: World) -> Caller:
    """An administrator of everything, at the tenant that a test is about."""
    return management.superuser(acme)


@pytest.fixture
def robot(acme: World) -> management.Machine:
    """A machine application with the management role of that tenant."""
    return management.machine(acme)
