"""Fixtures for the rows of grants: a tenant that no server serves."""

import pytest

from identity.users.models import User
from oidc.applications.models import Application
from tests.support import cast
from tests.support.cast import World


@pytest.fixture
def acme(database: None) -> World:
    return cast.new_world("Acme")


@pytest.fixture
def application(acme: World) -> Application:
    return acme.application().application


@pytest.fixture
def user(acme: World) -> User:
    return acme.user()
