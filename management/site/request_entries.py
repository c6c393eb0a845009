"""The page that looks up a reference: the audit entries of an error page."""

from dataclasses import dataclass
from typing import Final

from django.contrib.admin import site
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from audit.models import Entry
from identity.tenants.models import Tenant
from management.site import chosen_tenant, entry_sentences
from management.site.entry_subjects import Cell

_MAX_ENTRIES: Final = 100


@dataclass(frozen=True, slots=True)
class EntryLine:
    """An entry, its sentence, its tenant if that is not the chosen one, and who it is about."""

    entry: Entry
    sentence: str
    tenant: Tenant | None = None
    who: Cell = "-"


@require_safe
def why(request: HttpRequest) -> HttpResponse:
    """Show the entries of one request in all logs that the administrator may read, oldest first."""
    reference = request.GET.get("reference", "").strip().lower()
    lines = _lines(request, reference) if reference else []
    context = {"title": gettext("Look up a reference"), "reference": reference, "lines": lines}
    return render(request, "admin/why.html", {**site.each_context(request), **context})


def _lines(request: HttpRequest, reference: str) -> list[EntryLine]:
    managed = chosen_tenant.get_managed(request.user)  # type: ignore[arg-type]
    entries = (
        Entry.objects.filter(tenant_id__in=managed.order_by().values("pk"))
        .of_request(reference)
        .visible_to(request.user)
    )
    shown = list(entries.order_by("created_at", "id")[:_MAX_ENTRIES])
    chosen = request.tenant.pk  # type: ignore[attr-defined]
    others = Tenant.objects.in_bulk({entry.tenant_id for entry in shown} - {chosen})
    return [EntryLine(entry, entry_sentences.sentence(entry), others.get(entry.tenant_id)) for entry in shown]
