"""``/t/{slug}`` becomes the script prefix, so that every address below it is written once."""

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
from identity.tenants.models import Tenant

_PREFIX: Final = re.compile(r"/t/([^/]*)(?=/)")
# RFC 8414 section 3.1: the well-known name stands between the host and the path of the issuer.
_INSERTED: Final = re.compile(r"(/\.well-known/[a-z-]+)(/t/[^/]+)")
_SLUG: Final = re.compile(r"[a-z0-9-]{1,63}")
_REMEMBERED_FOR: Final = 5.0  # seconds that a worker may still serve a tenant that was deleted elsewhere
_IN_DOUBT: Final = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INTERNAL_SERVER_ERROR}

_by_slug: Final = Select(lambda: Tenant.objects.filter(slug=text("slug")).exclude(pk=tenancy.DEFAULT_ID)[:1])
_known: dict[str, tuple[float, tenancy.ActiveTenant]] = {}


def split(path: str) -> tuple[str, str]:
    """Return the prefix by which a path names a tenant, known or not, and the path below it."""
    match = _PREFIX.match(path)
    if match is None or not _SLUG.fullmatch(match[1]):
        return "", path
    return match[0], path[match.end() :]


class TenantMiddleware:
    """Activates the tenant that the path names, the default one without a prefix."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request inside its tenant; an unknown tenant is a page not found."""
        if inserted := _INSERTED.fullmatch(request.path_info):
            request.path_info = f"{inserted[2]}{inserted[1]}"
        if not request.path_info.startswith("/t/"):
            _note(request, tenancy.DEFAULT)
            with tenancy.using(tenancy.DEFAULT):
                return self.get_response(request)
        match = _PREFIX.match(request.path_info)
        if match is None:
            raise Http404
        # Cut first: a refusal has the shape of the path below the tenant, known or not.
        request.path_info = request.path_info[match.end() :]
        tenant = _find(match[1])
        _note(request, tenant)
        set_script_prefix(f"{tenant.prefix}/")
        try:
            with tenancy.using(tenant):
                response = self.get_response(request)
        finally:
            set_script_prefix("/")
        if response.status_code in _IN_DOUBT or getattr(response, "in_doubt", False):
            # Nothing can be written into a tenant that is gone, so what went wrong may be just that.
            _known.pop(match[1], None)
            _find(match[1])
        return response


def _note(request: HttpRequest, tenant: tenancy.ActiveTenant) -> None:
    """Say whom the request is for: in the log, also in lines that are written when it is over."""
    context.serve(tenant.id)
    request.served_tenant_id = tenant.id  # type: ignore[attr-defined]


def _find(slug: str) -> tenancy.ActiveTenant:
    """Return the tenant of a slug; the default tenant has no prefix, hence no slug here."""
    if not _SLUG.fullmatch(slug):
        raise Http404
    now = time.monotonic()
    remembered = _known.get(slug)
    if remembered is not None and remembered[0] > now:
        return remembered[1]
    with tenancy.using(tenancy.DEFAULT):
        tenant = _by_slug.first(slug=slug)
    if tenant is None:
        _known.pop(slug, None)
        raise Http404
    _known[slug] = (now + _REMEMBERED_FOR, tenant.activated())
    return _known[slug][1]
