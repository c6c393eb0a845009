"""The middleware that activates the tenant of ``/t/{slug}`` and sets this prefix as the script prefix."""

import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import set_script_prefix

from audit import context
from identity.core import tenancy
from identity.core.tenant_statements import Select, text
from identity.tenants.models import SLUG, Tenant

_PREFIX: Final = re.compile(r"/t/([^/]*)(?=/)")
# RFC 8414 section 3.1: the well-known path is inserted between the host and the path of the issuer.
_WELL_KNOWN: Final = re.compile(r"(/\.well-known/[a-z-]+)(/t/[^/]+)")
_CACHE_SECONDS: Final = 5.0  # a worker may serve a tenant for this long after another one deleted it
_MAYBE_DELETED: Final = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR}

_by_slug: Final = Select(lambda: Tenant.objects.filter(slug=text("slug")).exclude(pk=tenancy.DEFAULT_ID)[:1])
_cache: dict[str, tuple[float, tenancy.ActiveTenant]] = {}


def split_prefix(path: str) -> tuple[str, str]:
    """Return the tenant prefix of a path, even of an unknown tenant, and the rest of the path."""
    match = _PREFIX.match(path)
    if match is None or not SLUG.fullmatch(match[1]):
        return "", path
    return match[0], path[match.end() :]


def put_prefix_first(path: str) -> str:
    """Return a path with the tenant prefix at its start, if it is behind the well-known path of RFC 8414."""
    match = _WELL_KNOWN.fullmatch(path)
    return f"{match[2]}{match[1]}" if match else path


def get_cached(slug: str) -> tenancy.ActiveTenant | None:
    """Return the tenant of a slug, or None if it has not been looked up in the last seconds.

    An empty slug is that of the default tenant.
    """
    if not slug:
        return tenancy.DEFAULT
    cached = _cache.get(slug)
    return cached[1] if cached is not None and cached[0] > time.monotonic() else None


class TenantMiddleware:
    """Activates the tenant of the path's prefix, or the default tenant."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request in its tenant.

        Raises:
            Http404: the tenant is unknown.

        """
        request.path_info = put_prefix_first(request.path_info)
        if not request.path_info.startswith("/t/"):
            _set_context(request, tenancy.DEFAULT)
            with tenancy.using(tenancy.DEFAULT):
                return self.get_response(request)
        match = _PREFIX.match(request.path_info)
        if match is None:
            raise Http404
        # Changed before the lookup, because the format of its 404 depends on the path below the prefix.
        request.path_info = request.path_info[match.end() :]
        tenant = _find(match[1])
        _set_context(request, tenant)
        set_script_prefix(f"{tenant.prefix}/")
        try:
            with tenancy.using(tenant):
                response = self.get_response(request)
        finally:
            set_script_prefix("/")
        if response.status_code in _MAYBE_DELETED or getattr(response, "in_doubt", False):
            # The tenant may have been deleted, which is 404: look it up in the database.
            _cache.pop(match[1], None)
            _find(match[1])
        return response


def _set_context(request: HttpRequest, tenant: tenancy.ActiveTenant) -> None:
    """Set the tenant for the audit log, and for log records that are written after the request."""
    context.set_served_tenant(tenant.id)
    request.served_tenant_id = tenant.id  # type: ignore[attr-defined]


def _find(slug: str) -> tenancy.ActiveTenant:
    """Return the tenant of a slug from the cache or the database.

    Raises:
        Http404: no tenant has the slug, or it is the default tenant, which has no prefix.

    """
    if not SLUG.fullmatch(slug):
        raise Http404
    if (cached := get_cached(slug)) is not None:
        return cached
    now = time.monotonic()
    with tenancy.using(tenancy.DEFAULT):
        tenant = _by_slug.first(slug=slug)
    if tenant is None:
        _cache.pop(slug, None)
        raise Http404
    _cache[slug] = (now + _CACHE_SECONDS, tenant.to_active())
    return _cache[slug][1]
