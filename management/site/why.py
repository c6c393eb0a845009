"""Why was this refused? The reference of an error page, answered from the audit log."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit import ids
from audit.models import Entry
from identity.core import tenancy
from management.site import words

_MOST: Final = 100
# A reference says when its request came; a request, and what it leaves to do, is over soon after.
_BEFORE: Final = timedelta(minutes=1)
_AFTER: Final = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Told:
    """An entry, and what it says."""

    entry: Entry
    sentence: str


@require_safe
def why(request: HttpRequest) -> HttpResponse:
    """Show everything that one request left in the tenant's log, in the order in which it happened."""
    reference = request.GET.get("reference", "").strip().lower()
    found = of_request(reference) if reference else []
    told = [Told(entry, words.sentence(entry)) for entry in found]
    context = {"title": "Why was this refused?", "reference": reference, "told": told}
    return render(request, "admin/why.html", {**site.each_context(request), **context})


def of_request(reference: str) -> list[Entry]:
    """Return the entries of a request in the active tenant, by the index that is there: by time."""
    pk = ids.parse(reference)
    moment = ids.made_at(pk) if pk else None
    if moment is None:
        return []
    around = Entry.objects.filter(
        tenant_id=tenancy.active_id(), created_at__gte=moment - _BEFORE, created_at__lte=moment + _AFTER
    )
    return list(around.filter(request_id=reference).order_by("created_at", "id")[:_MOST])
