"""Plans of token requests: a tenant that this process serves, and clients there."""

import pytest

from identity.tenants import middleware
from identity.users.models import User
from oidc.provider.token import plan_store
from tests.support.cast import RelyingParty
from tests.support.code_plans import Redeeming
from tests.support.in_process import SurfacesWorld
from tests.support.refresh_plans import Refreshing


@pytest.fixture(autouse=True)
def no_plans(monkeypatch):
    """This process has no plans yet. It forgets no tenant, however slow the machine is."""
    monkeypatch.setattr(plan_store, "_plans", plan_store.Plans())
    monkeypatch.setattr(middleware, "_CACHE_SECONDS", 600.0)


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


@pytest.fixture
def redeem(here: SurfacesWorld, user: User) -> Redeeming:
    """A client whose next code is redeemed by a plan."""
    redeeming = Redeeming(here.application(), user)
    redeeming()
    redeeming()
    assert redeeming.is_planned
    return redeeming
