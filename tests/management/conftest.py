"""Fixtures for the management API and the operators' site: who uses them."""

from typing import Any

import httpx
import pytest

from tests.support import cast, management, operators
from tests.support import crowd as crowds
from tests.support.cast import World, default_world
from tests.support.management import Caller
from tests.support.surface import Estate
from tests.support.token_kinds import Place


@pytest.fixture
def admin(acme: World) -> Caller:
    """An administrator of everything, at the tenant that a test is about."""
    return management.superuser(acme)


@pytest.fixture
def robot(acme: World) -> management.Machine:
    """A machine application with the management role of that tenant."""
    return management.machine(acme)


@pytest.fixture(scope="session")
def crowd(address: str) -> dict[str, Estate]:
    """By group of routes, where every list has several rows. For reading only."""
    return crowds.crowded()


@pytest.fixture
def operator(acme: World) -> operators.Operator:
    """Somebody who manages everything, at that tenant's pages of the operators' site."""
    return operators.at(acme)


@pytest.fixture(scope="module")
def places(address: str) -> dict[str, Place]:
    """Where the routes of each group are walked: superusers' routes exist at the root only."""
    there = Estate(cast.new_world("Elsewhere"))
    tenant = Place(Estate(cast.new_world("Here")), there)
    root = Place(Estate(cast.default_world()), there)
    return {"management": tenant, "members": tenant, "root": root}


@pytest.fixture
def root(admin: Caller, address: str) -> Caller:
    """An administrator of everything, at the root, where tenants and administrators are managed."""
    return management.superuser(default_world())


@pytest.fixture(scope="module")
def document(address: str) -> dict[str, Any]:
    """The OpenAPI document of the management API."""
    found: dict[str, Any] = httpx.get(f"{address}/api/openapi.json").json()
    return found


@pytest.fixture(scope="module")
def callers(crowd: dict[str, Estate]) -> dict[str, Caller]:
    manager = management.member_manager(crowd["members"].world, crowd["members"]["organizations"])
    return {"management": crowd["management"].admin, "root": crowd["root"].admin, "members": manager}
