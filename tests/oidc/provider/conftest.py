"""Fixtures for the functions of the provider: a tenant that no server serves."""

import pytest

from oidc.applications.models import Application
from tests.support import cast
from tests.support.cast import World


@pytest.fixture
def acme(database: None) -> World:
    return cast.new_world("Acme")


@pytest.fixture
def application(acme: World) -> Application:
    return acme.application().application
