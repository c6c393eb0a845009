"""Public documents: the key set, discovery and metadata, which the worker's loop answers itself.

Django serves requests that are unusual: with another method, a query, a body, another precondition than
``If-None-Match``, another spelling of the path, or a tenant that is not cached. Django also serves all
requests if they are logged (``LOG_REQUESTS``) or traced.
"""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.urls import reverse

from config.server.checked_database import checked_database
from identity.core import tenancy
from identity.http.answers import Answer
from identity.tenants import middleware as tenants
from oidc.keys.views import get_key_set
from oidc.provider.discovery import get_document

Get = Callable[[], Answer]

DOCUMENTS: Final[dict[str, Get]] = {
    "oidc:jwks": get_key_set,
    "oidc:discovery": get_document,
    "oidc:discovery-below": get_document,
    "oidc:metadata": get_document,
}
_UNUSUAL: Final = frozenset(
    {
        b"content-length",
        b"transfer-encoding",
        b"expect",
        b"if-match",
        b"if-modified-since",
        b"if-unmodified-since",
    }
)
_MOST_PATH: Final = 256  # bytes


class Wanted(NamedTuple):
    """What a request for a document asks for. The slug is empty for the default tenant."""

    route: str
    slug: str
    method: str
    version: tuple[int, int]
    none_match: str | None  # its If-None-Match


def find(request: Any) -> Wanted | None:
    """Return what a request of gunicorn's parser asks for, or None if Django or a surface must serve it."""
    path = request.raw_path
    if request.method not in {"GET", "HEAD"} or b"/.well-known/" not in path or request.query:
        return None
    found = _find_route(path) if len(path) <= _MOST_PATH else None
    if found is None or settings.LOG_REQUESTS or settings.TRACING:
        return None
    none_match = []
    for name, value in request.headers_bytes:
        if name in _UNUSUAL:
            return None
        if name == b"if-none-match":
            none_match.append(value.decode("latin-1"))
    return Wanted(*found, request.method, request.version, ",".join(none_match) if none_match else None)


@cache
def by_path() -> dict[str, str]:
    """Return the routes of the documents by path below the tenant."""
    return {reverse(route): route for route in DOCUMENTS}


@lru_cache(maxsize=1_024)
def _find_route(path: bytes) -> tuple[str, str] | None:
    """Return the route of a document and the slug in the path."""
    prefix, below = tenants.split_prefix(tenants.put_prefix_first(path.decode("latin-1")))
    route = by_path().get(below)
    return (route, prefix.removeprefix("/t/")) if route else None


def find_tenant(wanted: Wanted) -> tenancy.ActiveTenant | None:
    """Return the tenant of a request, or None if Django must look it up."""
    return tenants.get_cached(wanted.slug)


def read(tenant: tenancy.ActiveTenant, get: Get) -> Answer:
    """Return the document of a tenant. A thread calls this, because it waits for the database.

    Raises:
        Exception: what ``get`` raised.

    """
    with checked_database(), tenancy.using(tenant):
        return get()
