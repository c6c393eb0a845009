"""The operators' pages of a model: a list and a page per row, both read-only, and operations.

Django's forms save nothing here: all fields are read-only, and the permissions to write are refused. An
``Operation`` calls the service that the API calls, with the same rules, transactions and audit entries.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django.contrib.admin import AdminSite, ModelAdmin, ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import flatten_fieldsets, unquote
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model, QuerySet
from django.forms import Media
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext

from database import ids
from identity.http.responses import allow_frames
from identity.operator_kit import bulk, columns, extensions, in_place, lists, panel_buttons, routes
from identity.operator_kit.catalogue import OperationCatalogue
from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Panel
from identity.operator_kit.previewer import Previewer
from identity.operator_kit.runner import OperationRunner
from identity.operator_kit.tabs import build_tabs
from identity.operator_kit.texts import Text


class Pages(ModelAdmin):  # type: ignore[type-arg]  # generic for type checkers alone
    """The pages of a model.

    ``section`` is the English name of a section of the sidebar, ``place`` the list's position in it, or None
    for no link. ``title`` replaces the model's plural. ``empty`` is the text of an empty list. A row's page
    has ``fields`` or titled ``field_groups``. If ``at_root``, the audit entries of ``operations`` belong to
    the default tenant. ``log_filter`` is the audit log's parameter that filters by the id of a row.
    """

    section: ClassVar[str]
    place: ClassVar[int | None] = 0
    title: ClassVar[Text] = ""
    field_groups: ClassVar[tuple[tuple[Text, tuple[columns.Column, ...]], ...]] = ()
    empty: ClassVar[Text] = ""
    operations: ClassVar[tuple[Operation, ...]] = ()
    at_root: ClassVar[bool] = False
    log_filter: ClassVar[str] = ""
    row_parameters: ClassVar[frozenset[str]] = frozenset()  # that the URL of a row's page may have

    list_per_page = 50
    list_max_show_all = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    paginator = lists.BoundedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-created_at", "-pk")
    change_form_template = "admin/row.html"
    change_list_template = "admin/rows.html"
    media = Media()  # no scripts of Django's forms, which need jQuery

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        self.heading = self.title or columns.name_rows(model)
        self.catalogue = OperationCatalogue(model, self.operations)
        self.previewer = Previewer(model)
        self.runner = OperationRunner(
            admin_site, model, self.heading, self.get_row_name, self.previewer, self.catalogue, self.at_root,
            self._show_row,
        )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs of the list, the rows and their operations, and none of Django's own forms."""

        def page(route: str, view: Callable[..., HttpResponse], name: str) -> URLPattern:
            return path(route, self.admin_site.admin_view(view), name=routes.url_name(self.model, name))

        return [
            page("", self.changelist_view, "changelist"),
            page("do/<str:operation>/", self.operate, "operate_all"),
            page("<path:object_id>/do/<str:operation>/", self.operate, "operate"),
            page("<path:object_id>/do/<str:operation>/preview/<str:page>/", self.preview, "preview"),
            page("<path:object_id>/change/", self.change_view, "change"),
        ]

    def operate(self, request: HttpRequest, operation: str, object_id: str | None = None) -> HttpResponse:
        """Show the form of an operation, or run it."""
        found = self._check_operation(request, operation, object_id)
        if answer := self.runner.find_answer(request):
            return answer
        return self.runner.respond(request, found, self._get_row(request, object_id))

    def preview(self, request: HttpRequest, object_id: str, operation: str, page: str) -> HttpResponse:
        """Show a preview of the form's values, without saving them."""
        found = self._check_operation(request, operation, object_id)
        return self.previewer.respond(request, found, self._get_row(request, object_id), page)

    def find_named(self, is_match: Callable[[str], bool]) -> list[tuple[Any, str, str]]:
        """Return the rows whose names match, for the site's search, each with name and second line."""
        return []

    def _check_operation(self, request: HttpRequest, name: str, object_id: str | None) -> Operation:
        # Checked before the row is read, so that only those who have the permission learn which rows exist.
        if not self.catalogue.may_run_any(request):
            raise PermissionDenied
        return self.catalogue.get(request, name, with_row=object_id is not None)

    def _get_row(self, request: HttpRequest, object_id: str | None) -> Any:
        return None if object_id is None else self.get_object(request, unquote(object_id))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        lists.check_list_query(self, request)  # first, so that an unknown parameter is 400 for every role
        context = {"title": self.heading, "operations": self.catalogue.get_links(request), "pages": self}
        return super().changelist_view(request, context | (extra_context or {}))

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the rows of the list.

        Raises:
            UnknownQuery: the query string has a parameter, a page or a value that does not exist.

        """
        lists.check_list_query(self, request)
        try:
            return super().get_changelist_instance(request)
        except IncorrectLookupParameters as error:
            raise lists.UnknownQuery("no such page or value") from error

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return whether a filter of the list has this parameter."""
        return lookup in lists.get_filter_fields(self, request)

    def get_list_display(self, request: HttpRequest) -> Any:
        return columns.format_columns(self, self.list_display)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the operations that the administrator may run in bulk."""
        return {
            one.name: (partial(bulk.respond, self.runner, one), one.name, str(one.bulk_label[0]))
            for one in self.catalogue.all()
            if one.bulk_label and self.catalogue.may_run(request, one)
        }

    def get_action_choices(self, request: HttpRequest, default_choices: Any = ()) -> list[tuple[str, str]]:
        return [("", gettext("Bulk actions")), *(action[1:] for action in self.get_actions(request).values())]

    def response_action(  # type: ignore[override]  # Django 6 adds a parameter
        self, request: HttpRequest, queryset: QuerySet[Any]
    ) -> HttpResponse | None:
        """Run the chosen bulk operation on the selected rows.

        Raises:
            SuspiciousOperation: a selected id cannot be an id of this model.

        """
        if any(self.parse_id(text) is None for text in request.POST.getlist(ACTION_CHECKBOX_NAME)):
            raise SuspiciousOperation
        return super().response_action(request, queryset)

    def parse_id(self, text: str) -> Any:
        """Return the id in a text, or None if the text is not an id."""
        return ids.parse(text)

    def get_row_name(self, row: Any) -> str:
        """Return the title of a row's page."""
        return str(row)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return a row of the tenant.

        Raises:
            Http404: the tenant has no row with this id.

        """
        pk = self.parse_id(object_id)
        row = None if pk is None else self.get_queryset(request).filter(pk=pk).first()
        if row is None:
            raise Http404
        return row

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Show a row.

        Raises:
            PermissionDenied: the request sends a form, or the administrator may not see such rows.
            UnknownQuery: the query string has a parameter that does not exist.

        """
        # Permission comes first, so that only those who have it learn which rows exist.
        if request.method not in {"GET", "HEAD"} or not self.has_view_permission(request):
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        lists.check_row_query(request, self.row_parameters)
        return self._show_row(request, row, self.runner.open_card(request, row))

    def _show_row(self, request: HttpRequest, row: Any, opened: dict[str, Any] | None) -> HttpResponse:
        """Return the page of a row, with an open form of a card or without one."""
        context = {**self.admin_site.each_context(request), **self._build_context(request, row, opened)}
        status = opened["status"] if opened else 200
        response = TemplateResponse(request, self.change_form_template, context, status=status)
        if context["previews"]:
            allow_frames(response)
        return response

    def _build_context(self, request: HttpRequest, row: Any, opened: dict[str, Any] | None) -> dict[str, Any]:
        """Return the template context of the page of a row, without that of every page."""
        operations = sorted(self.catalogue.get_links(request, row), key=lambda link: link[0].name != "change")
        previewed = next((one for one, _ in operations if one.draft and one.tab), None)
        panels, links = panel_buttons.place(self.get_panels(request, row), operations)
        buttons = sorted(in_place.get_buttons(links, row), key=lambda link: link[0].name == "delete")  # last
        log_query = f"?{self.log_filter}={row.pk}&when=all" if self.log_filter else ""
        return {
            "opts": self.opts,
            "original": row,
            "adminform": columns.get_values(self, request, row),
            "tabs": build_tabs((operation for operation, _ in operations), row),
            "operations": [link for link in buttons if not link[0].is_destructive],
            "dangers": [link for link in buttons if link[0].is_destructive],
            "editors": [operation for operation, _ in operations if operation.edits],
            "opened": opened,
            "row_link": routes.row_url(row),
            "copied": columns.COPIED,
            "previews": (opened or {}).get("previews") or self.previewer.get_links(previewed, row),
            "panels": panels,
            "cards": extensions.build_cards(self.model, row, operations),
            "log_link": log_query and reverse("admin:audit_entry_changelist") + log_query,
            "heading": self.heading,
            "title": self.get_row_name(row),
        }

    def get_panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Return the panels of a row's page: those that apps above have registered."""
        return [panel for build in extensions.registry[self.model].panels for panel in build(row)]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        return columns.group_fields(self, self.field_groups or ((columns.DETAILS, tuple(self.fields or ())),))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return flatten_fieldsets(self.get_fieldsets(request, obj))

    get_readonly_fields = get_fields

    def _has_no_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = _has_no_permission
