"""Why was this refused? The reference of an error page, answered from the audit log."""

from dataclasses import dataclass
from typing import Final

from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.models import Entry
from identity.tenants.models import Tenant
from management.site import choice, words

_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class Told:
    """An entry, what it says, and the tenant it is of where that is not the chosen one."""

    entry: Entry
    sentence: str
    tenant: Tenant | None = None


@require_safe
def why(request: HttpRequest) -> HttpResponse:
    """Show everything that one request left in the logs that the administrator may see, in order."""
    reference = request.GET.get("reference", "").strip().lower()
    told = _told(request, reference) if reference else []
    context = {"title": "Why was this refused?", "reference": reference, "told": told}
    return render(request, "admin/why.html", {**site.each_context(request), **context})


def _told(request: HttpRequest, reference: str) -> list[Told]:
    managed = choice.managed_by(request.user)  # type: ignore[arg-type]
    entries = (
        Entry.objects.filter(tenant_id__in=managed.order_by().values("pk"))
        .of_request(reference)
        .visible_to(request.user)
    )
    found = list(entries.order_by("created_at", "id")[:_MOST])
    chosen = request.tenant.pk  # type: ignore[attr-defined]
    others = Tenant.objects.in_bulk({entry.tenant_id for entry in found} - {chosen})
    return [Told(entry, words.sentence(entry), others.get(entry.tenant_id)) for entry in found]
