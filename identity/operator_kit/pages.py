"""The console's pages of a model: a list and a page per row, both read-only, and operations.

Django's forms save nothing here. An ``Operation`` calls the service that the API calls, so both have the same
rules, transactions and audit entries.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django.contrib.admin import AdminSite, ModelAdmin, ShowFacets
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db.models import Model, QuerySet
from django.forms import Media
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse

from database import ids
from identity.operator_kit import bulk, extensions, lists, routes, timestamps
from identity.operator_kit.catalogue import OperationCatalogue
from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Panel
from identity.operator_kit.previewer import Previewer
from identity.operator_kit.runner import OperationRunner


class Pages(ModelAdmin):  # type: ignore[type-arg]  # generic for type checkers alone
    """The pages of a model.

    ``section`` is the sidebar's, ``title`` replaces the plural of the model, and ``fields`` are those of a
    row's page. If ``at_root``, the audit entries of ``operations`` belong to the default tenant.
    ``log_filter`` is the audit log's parameter for the id of such a row.
    """

    section: ClassVar[str]
    title: ClassVar[str] = ""
    operations: ClassVar[tuple[Operation, ...]] = ()
    at_root: ClassVar[bool] = False
    log_filter: ClassVar[str] = ""

    list_per_page = 50
    list_max_show_all = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    paginator = lists.BoundedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-created_at", "-pk")
    change_form_template = "admin/row.html"
    change_list_template = "admin/rows.html"
    # Instead of the scripts of Django's forms, which need jQuery.
    media = Media(js=["admin/js/actions.js"])

    def __init__(self, model: type[Model], admin_site: AdminSite) -> None:
        super().__init__(model, admin_site)
        self.heading = self.title or str(self.opts.verbose_name_plural).capitalize()
        self.catalogue = OperationCatalogue(model, self.operations)
        self.previewer = Previewer(model)
        self.runner = OperationRunner(
            admin_site, model, self.heading, self.get_row_name, self.previewer, self.at_root
        )

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
        return self.runner.respond(request, *self._get_operation(request, operation, object_id))

    def preview(self, request: HttpRequest, object_id: str, operation: str, page: str) -> HttpResponse:
        """Show what the form of an operation would make, without saving it."""
        return self.previewer.respond(request, *self._get_operation(request, operation, object_id), page)

    def _get_operation(self, request: HttpRequest, name: str, object_id: str | None) -> tuple[Operation, Any]:
        # Permission comes first, so that only those who have it learn which rows exist.
        if not self.catalogue.may_run_any(request):
            raise PermissionDenied
        row = None if object_id is None else self.get_object(request, unquote(object_id))
        return self.catalogue.get(request, name, with_row=row is not None), row

    def _get_links(self, request: HttpRequest, row: Model | None = None) -> list[tuple[Operation, str]]:
        return [
            (operation, routes.operation_url(self.model, operation.name, row))
            for operation in self.catalogue.get_available(request, row)
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        lists.check_list_query(self, request)  # first, so that an unknown parameter is 400 for every role
        context = {"title": self.heading, "operations": self._get_links(request)}
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
        """Tell whether a filter of the list has this parameter."""
        return lookup in lists.get_filter_fields(self, request)

    def get_list_display(self, request: HttpRequest) -> Any:
        return timestamps.format_columns(self.model, self.list_display)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the operations that the administrator may run in bulk."""
        return {
            one.name: (partial(bulk.respond, self.runner, one), one.name, " ".join(one.bulk_label))
            for one in self.catalogue.all()
            if one.bulk_label and self.catalogue.may_run(request, one)
        }

    def get_action_choices(self, request: HttpRequest, default_choices: Any = ()) -> list[tuple[str, str]]:
        actions = self.get_actions(request).values()
        return [("", "With the selected rows…"), *((name, label) for _, name, label in actions)]

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
        """Return the id that a text stands for, or none if it is not an id."""
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
        lists.check_row_query(request)
        operations = self._get_links(request, row)
        previewed = next((operation for operation, _ in operations if operation.draft), None)
        log_query = f"?{self.log_filter}={row.pk}&when=all" if self.log_filter else ""
        context = {
            "operations": operations,
            "previews": self.previewer.get_links(previewed, row) if previewed else [],
            "panels": self.get_panels(request, row),
            "log_link": log_query and reverse("admin:audit_entry_changelist") + log_query,
            "heading": self.heading,
            "title": self.get_row_name(row),
            "subtitle": None,
        }
        response: Any = super().change_view(request, object_id, form_url, context | (extra_context or {}))
        response.frames = previewed is not None  # read by the middleware of the security headers
        return response

    def get_panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Return the panels of a row's page: those that apps above have registered."""
        return [panel for build in extensions.registry[self.model].panels for panel in build(row)]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return timestamps.format_columns(self.model, self.fields or ())

    # Django's forms save nothing: all fields are read-only, and the permissions to write are refused.
    get_readonly_fields = get_fields

    def _has_no_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_add_permission = has_change_permission = has_delete_permission = _has_no_permission
