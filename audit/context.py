"""The origin of the current work: tenant, client and actor. Every audit entry stores it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

_MAX_USER_AGENT: Final = 512


class Origin(NamedTuple):
    """Tenant, address, user agent, correlation id and actor. Outside of requests, only the tenant is set.

    ``tenant_id`` is the active tenant, ``served_tenant_id`` the tenant of the request. ``is_trial`` says that
    an administrator tries a sign-in. ``country`` is what a trusted proxy says of the address (ISO 3166-1).
    """

    tenant_id: str = "default"
    served_tenant_id: str = ""
    ip: str = ""
    user_agent: str = ""
    request_id: str = ""
    administrator_id: int | None = None
    application_id: str | None = None
    user_id: str | None = None
    is_trial: bool = False
    country: str = ""


_EMPTY: Final = Origin()
_current: ContextVar[Origin] = ContextVar("origin", default=_EMPTY)


def current() -> Origin:
    """Return the origin of the current work."""
    return _current.get()


@contextmanager
def using(origin: Origin) -> Iterator[None]:
    """Use this origin for the entries of the block."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def tenant(tenant_id: str) -> AbstractContextManager[None]:
    """Use this tenant, and what is set already, for the entries of the block."""
    return using(_current.get()._replace(tenant_id=tenant_id))


def set_served_tenant(tenant_id: str) -> None:
    """Set the tenant of the request, until the request ends."""
    _current.set(_current.get()._replace(served_tenant_id=tenant_id))


def set_trial() -> None:
    """Mark the entries of the request as those of a sign-in that an administrator tries."""
    _current.set(_current.get()._replace(is_trial=True))


def set_actor(
    *, administrator_id: int | None = None, application_id: str | None = None, user_id: str | None = None
) -> None:
    """Set the actor, until the request ends."""
    _current.set(
        _current.get()._replace(
            administrator_id=administrator_id, application_id=application_id, user_id=user_id
        )
    )


def clean_user_agent(sent: str) -> str:
    """Return the user agent of a request as entries store it."""
    return sent.replace("\0", "")[:_MAX_USER_AGENT]


def using_client(*, ip: str, user_agent: str, request_id: str) -> AbstractContextManager[None]:
    """Use this client and correlation id, and what is set already, for the entries of the block."""
    user_agent = clean_user_agent(user_agent)
    return using(_current.get()._replace(ip=ip, user_agent=user_agent, request_id=request_id))


def new_request(
    *, ip: str, user_agent: str, request_id: str, country: str = ""
) -> AbstractContextManager[None]:
    """Use this client and correlation id, and nothing that was set before, for the entries of the block."""
    user_agent = clean_user_agent(user_agent)
    return using(Origin(ip=ip, user_agent=user_agent, request_id=request_id, country=country))
