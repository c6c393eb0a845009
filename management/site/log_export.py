"""The export of the audit log: a stream that holds a thread while the administrator downloads it.

Few exports run at the same time, so slow downloads leave threads for other requests.
"""

from contextlib import ExitStack
from typing import Final

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from audit import exports
from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.slots import Slots
from identity.http.error_page import Link, error_page
from management.site import chosen_tenant, current_caller

_RETRY_AFTER: Final = "30"  # seconds
_exports: Final = Slots(max(1, settings.THREADS // 8))
_administrators: Final = Slots(settings.THREADS)


class _Busy(ServiceError):
    """The administrator or the tenant downloads an export already, or too many others do."""

    status = 503
    reason = "overloaded"
    message = "too many exports at once"


def respond(request: HttpRequest, entries: QuerySet[Entry]) -> HttpResponseBase:
    """Return entries as CSV, or 503 if the administrator, the tenant or the worker has no place for it."""
    places = ExitStack()
    try:
        places.enter_context(_exports.take(_Busy()))
        places.enter_context(_administrators.take(_Busy(), by=str(request.user.pk), most=1))
    except _Busy:
        places.close()
        return _refuse(request)
    lines = exports.lines(entries, lambda: _check(request))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response._resource_closers.append(places.close)  # type: ignore[attr-defined]  # noqa: SLF001
    name = f"audit-{timezone.now():%Y-%m-%d-%H%M}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Cache-Control"] = "no-store"
    return response


def _check(request: HttpRequest) -> None:
    """Check that the administrator may still read the log.

    Raises:
        ConnectionAbortedError: the session has ended, or the tenant is not the administrator's any more.

    """
    with tenancy.without_tenant():
        is_signed_in = current_caller.read_again(request)
        if not is_signed_in or chosen_tenant.current(request) != request.tenant:  # type: ignore[attr-defined]
            raise ConnectionAbortedError("the administrator may not read the log any more")


def _refuse(request: HttpRequest) -> HttpResponseBase:
    response = error_page(
        request,
        _Busy.status,
        title=gettext("Too many exports at once"),
        message=gettext("You can download one export at a time. Others may be downloading, too."),
        next_step=gettext("Wait until the download has ended, and try again."),
        link=Link(reverse("admin:audit_entry_changelist"), gettext("Audit log")),
    )
    response["Retry-After"] = _RETRY_AFTER
    return response
