"""The kit that pages of the operators' site are declared with: lists and rows to read, operations to do.

Nothing is saved by a form of Django's admin. What operators do is an ``Operation``, which calls
the service that the API calls, so that it is checked, atomic and audited alike.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib.admin import ModelAdmin, ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model, QuerySet
from django.forms import Media
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse

from database import ids
from identity.operator_kit import bulk, timestamps
from identity.operator_kit.bounded_paginator import BoundedPaginator
from identity.operator_kit.list_queries import DeclaredQueries
from identity.operator_kit.operating import Operating, address_of
from identity.operator_kit.operations import Cell, Panel
from identity.operator_kit.timestamps import Column

Panels = Callable[[Any], list[Panel]]

_panels: dict[type, list[Panels]] = {}


def beside(model: type) -> Callable[[Panels], Panels]:
    """Show panels beside the rows of a model below, which need not know who hangs on it."""

    def note(panels: Panels) -> Panels:
        _panels.setdefault(model, []).append(panels)
        return panels

    return note


class Pages(Operating, DeclaredQueries, ModelAdmin):  # type: ignore[type-arg]  # generic for type checkers alone
    """A list and a page for each row, to read.

    ``section`` is where the sidebar has it, ``shown`` what a row's page shows and no more,
    ``operations`` what can be done; those ``at_root`` belong to the default tenant's log.
    """

    section: ClassVar[str]
    title: ClassVar[str] = ""
    shown: ClassVar[tuple[str, ...]]
    log_filter: ClassVar[str] = ""

    list_per_page = 50
    list_max_show_all = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    paginator = BoundedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-created_at", "-pk")
    change_form_template = "admin/row.html"
    change_list_template = "admin/rows.html"
    # Instead of what Django's forms need: jQuery is not served.
    media = Media(js=["admin/js/actions.js"])

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[Any, ...]:
        """Return what is shown."""
        return timestamps.readable(self.model, self.shown)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[Any, ...]:
        """Return the same: nothing is written by way of Django's forms."""
        return timestamps.readable(self.model, self.shown)

    def get_list_display(self, request: HttpRequest) -> tuple[Column, ...]:
        """Return the columns of the list."""
        return timestamps.readable(self.model, self.list_display)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the operations that can be done to many rows at once."""
        many = [one for one in self.all_operations() if one.in_bulk and self.may(request, one)]
        return {one.name: bulk.action(one) for one in many}

    def get_action_choices(self, request: HttpRequest, default_choices: Any = ()) -> list[tuple[str, str]]:
        """Return the bulk actions."""
        found = [(name, label) for name, (_, _, label) in self.get_actions(request).items()]
        return [("", "With those that are ticked…"), *found]

    def response_action(  # type: ignore[override]  # Django 6 adds a parameter
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        """Run the chosen bulk action on the selected rows.

        Raises:
            SuspiciousOperation: a selected row is in no list of this site.

        """
        if any(self.parsed(text) is None for text in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise SuspiciousOperation
        return super().response_action(request, queryset)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are made by operations."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are changed by operations."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are deleted by operations."""
        return False

    def parsed(self, text: str) -> Any:
        """Return an id from its text; nothing for what is no id."""
        return ids.parse(text)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return a row of the tenant.

        Raises:
            Http404: the tenant has none of this id.

        """
        pk = self.parsed(object_id)
        row = None if pk is None else self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404
        return row

    def get_urls(self) -> list[URLPattern]:
        """Return list, row and operations; Django's forms to add, delete and compare are not among them."""
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        view = self.admin_site.admin_view
        return [
            path("", view(self.changelist_view), name=f"{name}_changelist"),
            path("do/<str:operation>/", view(self.operate), name=f"{name}_operate_all"),
            path("<path:object_id>/do/<str:operation>/", view(self.operate), name=f"{name}_operate"),
            path(
                "<path:object_id>/do/<str:operation>/preview/<str:page>/",
                view(self.preview),
                name=f"{name}_preview",
            ),
            path("<path:object_id>/change/", view(self.change_view), name=f"{name}_change"),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list."""
        return super().changelist_view(
            request, {"title": self.heading, "operations": self._open(request), **(extra_context or {})}
        )

    @property
    def heading(self) -> str:
        """What the rows are called."""
        return self.title or str(self.opts.verbose_name_plural).capitalize()

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show a row.

        Raises:
            PermissionDenied: something was sent, and nothing is taken here; or rows are not for who asks.

        """
        # Before anything is looked up: who may not see such rows does not learn which there are.
        if request.method not in {"GET", "HEAD"} or not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        drafted = self._drafted(request, row)
        context = {
            "operations": self._open(request, row),
            "previews": self.previews(drafted, row),
            "panels": self.panels(request, row),
            "log_link": self._log_link(row),
            "heading": self.heading,
            "title": self.name_of(row),
            "subtitle": None,
        }
        response = super().change_view(request, object_id, form_url, context | (extra_context or {}))
        response.frames = drafted is not None
        return response

    def panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Return what hangs on a row."""
        return [panel for panels in _panels.get(self.model, []) for panel in panels(row)]

    def _log_link(self, row: Any) -> str:
        if not self.log_filter:
            return ""
        return f"{reverse('admin:audit_entry_changelist')}?{self.log_filter}={row.pk}&when=all"


def link(row: Model, text: str = "") -> Cell:
    """Return a cell that leads to a row's page."""
    return Cell(text or str(row), address_of(row))
