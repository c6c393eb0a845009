"""The operators' pages of the audit log, with filters and an export."""

from collections.abc import Iterable
from typing import Any, Final, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import Media
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from audit import context
from audit.models import Entry, EntryQuerySet
from identity.operator_kit import timestamps
from identity.operator_kit.badges import BAD, GOOD, badge
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Link
from management.site import (
    entry_objects,
    entry_references,
    entry_search,
    entry_sentences,
    entry_subjects,
    log_export,
)
from management.site.log_filters import KeyFilter, ResultFilter, TrialFilter, WhenFilter

# The labels of columns: identity/operator_kit/labels.py
_LABELS: Final = (
    gettext_noop("Key"), gettext_noop("IP"), gettext_noop("User agent"), gettext_noop("ID"),
)  # fmt: skip


def _name_actors(entries: Iterable[Entry], reader: Any) -> list[Entry]:
    """Return entries with two new attributes.

    ``who`` is the user, administrator or application that acted, ``about`` what was created, changed or used.
    """
    entries = list(entries)
    actors = entry_subjects.find_actors(entries, reader)
    objects = entry_objects.find_objects(entries)
    for entry in entries:
        entry.who = actors[entry.pk]  # type: ignore[attr-defined]
        entry.about = objects[entry.pk]  # type: ignore[attr-defined]
    return entries


@admin.register(Entry)
class AuditLog(Pages):
    """The entries of the tenant, newest first."""

    media = Media()  # there are no forms, so no scripts for forms

    section = "Audit log"
    empty = _("Everything that users, applications and administrators do is recorded here.")
    title = _("Audit log")
    list_display = ("occurred_at", "what", "result", "subject", "ip", "key")
    list_filter = (ResultFilter, WhenFilter, TrialFilter, KeyFilter)
    search_fields = ("identifier_key",)  # makes Django show the search; see get_search_results
    search_help_text = _("Username, name, email, phone, IP address, application, reference or ID")
    sortable_by = ()
    change_list_template = "admin/entries.html"
    field_groups = (
        (_("Event"), ("occurred_at", "key", "what", "result", "subject", "user", "application")),
        (_("Request"), ("ip", "user_agent", "reference")),
        (_("Facts"), ("payload_text",)),
        (_("Record"), ("id",)),
    )

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
        response = super().changelist_view(
            request, {"export": export, "keeps_filters": True, **(extra_context or {})}
        )
        if changelist := getattr(response, "context_data", {}).get("cl"):
            changelist.result_list = _name_actors(changelist.result_list, request.user)
        if getattr(request, "is_search_cut", False) and isinstance(response, TemplateResponse):
            response.context_data = {**(response.context_data or {}), "cut_at": entry_search.MAX_MATCHES}
        return response

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by user, identifier, application, address or reference. Only the address has no index."""
        if not search_term.strip():
            return queryset, False
        found = entry_search.search(cast("EntryQuerySet", queryset), search_term)
        request.is_search_cut = found.is_cut  # type: ignore[attr-defined]  # read by changelist_view
        return found.entries, False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return an entry, with who acted and with links to the rows that it names."""
        entry = _name_actors([super().get_object(request, object_id, from_field)], request.user)[0]
        entry.links = entry_references.find_links(entry)  # type: ignore[attr-defined]
        return entry

    def get_row_name(self, row: Any) -> str:
        """Return the title of an entry: what happened."""
        return entry_sentences.sentence(row).rstrip(".。")

    def export(self, request: HttpRequest) -> HttpResponseBase:
        """Return the filtered list as CSV."""
        return log_export.respond(request, self.get_changelist_instance(request).get_queryset(request))

    @admin.display(description=_("When"))
    def occurred_at(self, entry: Entry) -> str:
        """The time of the event."""
        return timestamps.format_time(entry.created_at)

    @admin.display(description=_("Result"))
    def result(self, entry: Entry) -> str:
        """Whether the event succeeded."""
        is_failed = entry.payload.get("result") == "failed"
        return badge(gettext("Failed"), BAD) if is_failed else badge(gettext("Succeeded"), GOOD)

    @admin.display(description=_("Who"))
    def subject(self, entry: Entry) -> str:
        """The administrator, user or application that acted."""
        who = entry.who  # type: ignore[attr-defined]  # set by _name_actors
        return format_html('<a href="{}">{}</a>', who.href, who.text) if isinstance(who, Link) else who

    @admin.display(description=_("What"))
    def what(self, entry: Entry) -> str:
        """What happened, with the reason of a failure, and the name of its object."""
        about = _format_cell(entry.about)  # type: ignore[attr-defined]  # set by _name_actors
        sentence = entry_sentences.sentence(entry)
        return format_html('{} <span class="second">{}</span>', sentence, about) if about else sentence

    @admin.display(description=_("User"))
    def user(self, entry: Entry) -> str:
        """The user of the event, with the id."""
        return entry_references.format_id(entry.user_id, entry.links)  # type: ignore[attr-defined]

    @admin.display(description=_("Application"))
    def application(self, entry: Entry) -> str:
        """The application of the event, with the id."""
        return entry_references.format_id(entry.application_id, entry.links)  # type: ignore[attr-defined]

    @admin.display(description=_("Facts"))
    def payload_text(self, entry: Entry) -> str:
        """All facts of the event."""
        return entry_references.format_facts(entry.payload, entry.links)  # type: ignore[attr-defined]

    @admin.display(description=_("Reference"))
    def reference(self, entry: Entry) -> str:
        """A link to the other entries of the request."""
        if not entry.request_id:
            return "-"
        return format_html(
            '<a href="{}?reference={}">{}</a>', reverse("admin:why"), entry.request_id, entry.request_id
        )


def _format_cell(cell: entry_objects.Cell) -> str:
    """Return a name in HTML that keeps its own direction, with its link if it has one."""
    if isinstance(cell, Link):
        return format_html('<a href="{}"><bdi>{}</bdi></a>', cell.href, cell.text)
    return format_html("<bdi>{}</bdi>", cell) if cell else ""
