"""The origin of the current work, which every audit entry records besides its facts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

_MAX_USER_AGENT: Final = 512


@dataclass(frozen=True, slots=True)
class Origin:
    """Tenant, address, user agent, correlation id and actor; empty outside requests.

    ``tenant_id`` is the tenant of the current work, ``served_tenant_id`` that of the request.
    """

    tenant_id: str = "default"
    served_tenant_id: str = ""
    ip: str = ""
    user_agent: str = ""
    request_id: str = ""
    administrator_id: int | None = None
    application_id: str | None = None
    user_id: str | None = None


_NOWHERE: Final = Origin()
_current: ContextVar[Origin] = ContextVar("origin", default=_NOWHERE)


def current() -> Origin:
    """Return the origin of the current work."""
    return _current.get()


@contextmanager
def at(origin: Origin) -> Iterator[None]:
    """Record the entries of the block under this origin."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def tenant(tenant_id: str) -> Iterator[None]:
    """Record the entries of the block under this tenant."""
    token = _current.set(replace(_current.get(), tenant_id=tenant_id))
    try:
        yield
    finally:
        _current.reset(token)


def serve(tenant_id: str) -> None:
    """Set the tenant of the request, until the request ends."""
    _current.set(replace(_current.get(), served_tenant_id=tenant_id))


def act_as(
    *, administrator_id: int | None = None, application_id: str | None = None, user_id: str | None = None
) -> None:
    """Set the actor, until the request ends."""
    _current.set(
        replace(
            _current.get(), administrator_id=administrator_id, application_id=application_id, user_id=user_id
        )
    )


@contextmanager
def request(*, ip: str, user_agent: str, request_id: str) -> Iterator[None]:
    """Record the entries of the block under a client's address, user agent and correlation id."""
    origin = Origin(ip=ip, user_agent=user_agent.replace("\0", "")[:_MAX_USER_AGENT], request_id=request_id)
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
