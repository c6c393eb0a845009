"""Console pages of the audit log, with filters and an export."""

import json
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import Media
from django.http import HttpRequest, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html

from audit import context, exports
from audit.administrative import hidden_from
from audit.events import Event
from audit.models import Entry
from audit.typed import keys_of
from identity.operator_kit import timestamps
from identity.operator_kit.pages import Pages


class ResultFilter(admin.SimpleListFilter):
    """A filter by result."""

    title = "result"
    parameter_name = "result"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("failed", "Failed"), ("success", "Succeeded")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter the list. Entries of changes have no result, and count as succeeded."""
        if self.value() == "failed":
            return queryset.filter(payload__result="failed")
        return queryset.exclude(payload__result="failed") if self.value() == "success" else queryset


class KeyFilter(admin.SimpleListFilter):
    """A filter by event."""

    title = "event"
    parameter_name = "key"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return all events: finding those in the log would read all of it."""
        hidden = hidden_from(request.user)
        return [(event.value, event.value) for event in sorted(Event) if event.value not in hidden]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(key=self.value()) if self.value() else queryset


class WhenFilter(admin.SimpleListFilter):
    """A filter by time. By default the last 30 days, because a log may be long."""

    title = "time"
    parameter_name = "when"
    _days: Final = {"hour": 1 / 24, "day": 1, "week": 7, "": 30, "quarter": 90}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("hour", "Last hour"), ("day", "Last 24 hours"), ("week", "Last 7 days"), ("", "Last 30 days"),
            ("quarter", "Last 90 days"), ("all", "Ever"),
        ]  # fmt: skip

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if (chosen := self.value() or "") == "all":
            return queryset
        since = timezone.now() - timedelta(days=self._days.get(chosen, 30))
        return queryset.filter(created_at__gte=since)

    def choices(self, changelist: Any) -> Any:
        """Return the links, without Django's link for all."""
        for value, label in self.lookup_choices:
            yield {
                "selected": (self.value() or "") == value,
                "query_string": changelist.get_query_string({"when": value} if value else {}, ["when"]),
                "display": label,
            }


class IdFilter(admin.SimpleListFilter):
    """A filter by an id that is typed or comes with a link."""

    template = "admin/id_filter.html"

    def has_output(self) -> bool:
        """Return true: the filter has no lookups, but is always shown."""
        return True

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return none: there may be millions."""
        return []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return (
            queryset.filter(**{str(self.parameter_name): value.strip().replace("\0", "")})
            if value
            else queryset
        )

    def choices(self, changelist: Any) -> Any:
        """Return the value, and the other parameters that the form sends along."""
        others = changelist.get_filters_params()
        yield {
            "value": self.value() or "",
            "others": {k: v[0] for k, v in others.items() if k != self.parameter_name},
        }


class UserFilter(IdFilter):
    """A filter by user."""

    title = "user id"
    parameter_name = "user_id"


class ApplicationFilter(IdFilter):
    """A filter by application."""

    title = "application id"
    parameter_name = "application_id"


class IdentifierFilter(IdFilter):
    """A filter by the identifier that was typed at sign-in, also if no user has it."""

    title = "identifier typed"
    parameter_name = "identifier"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = (self.value() or "").strip()
        return queryset.filter(identifier_key__in=keys_of(value)) if value else queryset


@admin.register(Entry)
class AuditLog(Pages):
    """The entries of the tenant, newest first."""

    media = Media()  # there are no forms, so no scripts for forms

    section = "Operation"
    title = "Audit log"
    list_display = ("occurred_at", "key", "result", "error", "subject", "ip", "facts")
    list_display_links = ("key",)
    list_filter = (ResultFilter, WhenFilter, UserFilter, IdentifierFilter, ApplicationFilter, KeyFilter)
    sortable_by = ()
    change_list_template = "admin/entries.html"
    fields = (
        "id", "occurred_at", "key", "result", "error", "user_id", "application_id", "ip", "user_agent",
        "reference", "payload_text",
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the entries of the active tenant that the administrator may read."""
        entries = Entry.objects.filter(tenant_id=context.current().tenant_id).visible_to(request.user)
        return entries.order_by(*self.ordering)

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs of the list, an entry and the export."""
        view = self.admin_site.admin_view
        return [
            path("", view(self.changelist_view), name="audit_entry_changelist"),
            path("export/", view(self.export), name="audit_entry_export"),
            path("<path:object_id>/change/", view(self.change_view), name="audit_entry_change"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list, with a link to its export."""
        query = request.GET.urlencode()
        export = reverse("admin:audit_entry_export") + (f"?{query}" if query else "")
        return super().changelist_view(request, {"export": export, **(extra_context or {})})

    def get_row_name(self, row: Any) -> str:
        """Return the title of an entry: its event."""
        return str(row.key)

    def export(self, request: HttpRequest) -> StreamingHttpResponse:
        """Return the filtered list as CSV."""
        entries = self.get_changelist_instance(request).get_queryset(request)
        response = StreamingHttpResponse(exports.lines(entries), content_type="text/csv; charset=utf-8")
        name = f"audit-{timezone.now():%Y-%m-%d-%H%M}.csv"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Cache-Control"] = "no-store"
        return response

    @admin.display(description="When (UTC)")
    def occurred_at(self, entry: Entry) -> str:
        """The time of the event."""
        return timestamps.format_utc(entry.created_at)

    @admin.display(description="Result")
    def result(self, entry: Entry) -> str:
        """Whether the event succeeded."""
        return {"failed": "✗ failed"}.get(entry.payload.get("result", ""), "✓")

    @admin.display(description="Reason")
    def error(self, entry: Entry) -> str:
        """The reason of a failure."""
        return str(entry.payload.get("error") or "-")

    @admin.display(description="Who")
    def subject(self, entry: Entry) -> str:
        """The administrator, user or application of the event."""
        if "administrator_id" in entry.payload:
            return f"administrator {entry.payload['administrator_id']}"
        identifier = entry.payload.get("identifier") or entry.payload.get("username")
        return str(identifier or entry.user_id or entry.application_id or "-")

    @admin.display(description="Facts")
    def facts(self, entry: Entry) -> str:
        """The other facts of the event, shortened."""
        rest = {k: v for k, v in entry.payload.items() if k not in {"result", "error", "administrator_id"}}
        return ", ".join(f"{name}: {_brief(value)}" for name, value in rest.items())[:120]

    @admin.display(description="Facts")
    def payload_text(self, entry: Entry) -> str:
        """All facts of the event."""
        return json.dumps(entry.payload, indent=2, ensure_ascii=False)

    @admin.display(description="Reference")
    def reference(self, entry: Entry) -> str:
        """A link to the other entries of the request."""
        if not entry.request_id:
            return "-"
        return format_html(
            '<a href="{}?reference={}">{}</a>', reverse("admin:why"), entry.request_id, entry.request_id
        )


def _brief(value: Any) -> str:
    return str(value) if isinstance(value, str | int | datetime) else json.dumps(value, ensure_ascii=False)
