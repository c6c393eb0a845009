"""Plans of token requests: a tenant that this process serves, and clients there."""

import pytest

from identity.users.models import User
from oidc.provider.token import plan_store
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld
from tests.support.refresh_plans import Refreshing


@pytest.fixture(autouse=True)
def no_plans(monkeypatch):
    """This process has no plans yet."""
    monkeypatch.setattr(plan_store, "_plans", plan_store.Plans())


@pytest.fixture
def here(database) -> SurfacesWorld:
    """A tenant that this process serves, surfaces included."""
    return SurfacesWorld.known()


@pytest.fixture
def machine(here: SurfacesWorld) -> RelyingParty:
    return here.application("MachineToMachine")


@pytest.fixture
def user(here: SurfacesWorld) -> User:
    return here.user(name="Ada")


@pytest.fixture
def refresh(here: SurfacesWorld, user: User) -> Refreshing:
    """A client whose next refresh is answered by a plan."""
    refreshing = Refreshing(here.application(), user)
    refreshing()
    refreshing()
    assert refreshing.is_planned
    return refreshing
