"""The active tenant of the current request, task or command.

Managers of tenant models filter by it, and raise an error if there is none.
``tenancy.using(tenancy.EVERYWHERE)`` gives access to all tenants.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from audit import context

DEFAULT_ID: Final = "default"


class NoActiveTenant(RuntimeError):
    """A query for a tenant's rows has no active tenant."""


@dataclass(frozen=True, slots=True)
class ActiveTenant:
    """A tenant by id and slug, without the row behind it."""

    id: str
    slug: str

    @property
    def prefix(self) -> str:
        """The path prefix of the tenant's URLs. It is empty for the default tenant."""
        return "" if self.id == DEFAULT_ID else f"/t/{self.slug}"

    @property
    def issuer(self) -> str:
        """The issuer identifier, which comes from the settings and never from a request."""
        return f"{settings.BASE_URL}{self.prefix}"


@dataclass(frozen=True, slots=True)
class Everywhere:
    """All tenants, for operators' commands and for look-ups that find the tenant."""


DEFAULT: Final = ActiveTenant(DEFAULT_ID, DEFAULT_ID)
EVERYWHERE: Final = Everywhere()

_current: ContextVar[ActiveTenant | Everywhere | None] = ContextVar("tenant", default=None)


@contextmanager
def using(tenant: ActiveTenant | Everywhere) -> Iterator[None]:
    """Activate a tenant, or all tenants, for the block."""
    token = _current.set(tenant)
    try:
        with context.tenant(tenant.id if isinstance(tenant, ActiveTenant) else DEFAULT_ID):
            yield
    finally:
        _current.reset(token)


@contextmanager
def without_tenant() -> Iterator[None]:
    """Activate no tenant for the block. Every query for a tenant's rows raises ``NoActiveTenant``."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


def scope() -> ActiveTenant | Everywhere:
    """Return the active tenant or ``EVERYWHERE``.

    Raises:
        NoActiveTenant: no tenant is active.

    """
    current = _current.get()
    if current is None:
        raise NoActiveTenant("no tenant is active: wrap the work in tenancy.using(…)")
    return current


def active() -> ActiveTenant:
    """Return the one active tenant.

    Raises:
        NoActiveTenant: no tenant is active, or all tenants are.

    """
    current = scope()
    if isinstance(current, Everywhere):
        raise NoActiveTenant("this work belongs to one tenant, and all are active")
    return current


def active_id() -> str:
    """Return the id of the active tenant, which is the default of every tenant column."""
    return active().id
