"""Where the work of this moment comes from: what every audit entry says besides the facts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Final

_LONGEST_USER_AGENT: Final = 512


@dataclass(frozen=True, slots=True)
class Origin:
    """Tenant, address, user agent, correlation id, and who acts; empty outside of a request.

    The tenant is that of the work of the moment, ``served_tenant_id`` that of the request.
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
    """Return where the work of this moment comes from."""
    return _current.get()


@contextmanager
def at(origin: Origin) -> Iterator[None]:
    """File the entries of the block under an origin that was noted before."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def tenant(tenant_id: str) -> Iterator[None]:
    """File the entries of the block under a tenant."""
    token = _current.set(replace(_current.get(), tenant_id=tenant_id))
    try:
        yield
    finally:
        _current.reset(token)


def serve(tenant_id: str) -> None:
    """Note which tenant the request is for; it is forgotten when the request ends."""
    _current.set(replace(_current.get(), served_tenant_id=tenant_id))


def act_as(
    *, administrator_id: int | None = None, application_id: str | None = None, user_id: str | None = None
) -> None:
    """Note who does the rest of this request's work; it is forgotten when the request ends."""
    _current.set(
        replace(
            _current.get(), administrator_id=administrator_id, application_id=application_id, user_id=user_id
        )
    )


@contextmanager
def request(*, ip: str, user_agent: str, request_id: str) -> Iterator[None]:
    """File the entries of the block under a client's address and user agent."""
    origin = Origin(
        ip=ip, user_agent=user_agent.replace("\0", "")[:_LONGEST_USER_AGENT], request_id=request_id
    )
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)
