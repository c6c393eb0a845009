"""The kit that pages of the operators' site are declared with: lists and rows to read, operations to do.

Nothing is saved by a form of Django's admin. What operators do is an ``Operation``, which calls
the service that the API calls, so that it is checked, atomic and audited alike.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar

from django.contrib import messages
from django.contrib.admin import ModelAdmin, ShowFacets
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from rest_framework.exceptions import ValidationError

from audit import moments
from audit.bounded import BoundedPaginator
from audit.moments import Column
from identity.core import ids, tenancy
from identity.core.errors import ServiceError
from identity.core.operations import Cell, Once, Operation, Order, Panel

Panels = Callable[[Any], list[Panel]]

_panels: dict[type, list[Panels]] = {}
_operations: dict[type, list[Operation]] = {}


def beside(model: type) -> Callable[[Panels], Panels]:
    """Show panels beside the rows of a model below, which need not know who hangs on it."""

    def note(panels: Panels) -> Panels:
        _panels.setdefault(model, []).append(panels)
        return panels

    return note


def upon(model: type, operation: Operation) -> None:
    """Let something be done to the rows of a model below."""
    _operations.setdefault(model, []).append(operation)


class Pages(ModelAdmin):  # type: ignore[type-arg]  # generic for type checkers alone
    """A list and a page for each row, to read.

    ``section`` is where the sidebar has it, ``shown`` what a row's page shows and no more,
    ``operations`` what can be done; those ``at_root`` belong to the default tenant's log.
    """

    section: ClassVar[str]
    title: ClassVar[str] = ""
    shown: ClassVar[tuple[str, ...]]
    operations: ClassVar[Sequence[Operation]] = ()
    at_root: ClassVar[bool] = False
    log_filter: ClassVar[str] = ""

    actions = None
    list_per_page = 50
    list_max_show_all = 50
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    paginator = BoundedPaginator
    ordering: ClassVar[tuple[str, ...]] = ("-created_at", "-pk")
    change_form_template = "admin/row.html"
    change_list_template = "admin/rows.html"

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[Any, ...]:
        """Return what is shown."""
        return moments.readable(self.model, self.shown)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[Any, ...]:
        """Return the same: nothing is written by way of Django's forms."""
        return moments.readable(self.model, self.shown)

    def get_list_display(self, request: HttpRequest) -> tuple[Column, ...]:
        """Return the columns of the list."""
        return moments.readable(self.model, self.list_display)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are made by operations."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are changed by operations."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Tell that rows are deleted by operations."""
        return False

    def may_operate(self, request: HttpRequest) -> bool:
        """Tell whether the administrator may do anything here."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

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
            PermissionDenied: something was sent, and nothing is taken here.

        """
        if request.method not in {"GET", "HEAD"}:
            raise PermissionDenied
        row = self.get_object(request, unquote(object_id))
        context = {
            "operations": self._open(request, row),
            "panels": self.panels(request, row) if self.has_view_permission(request) else [],
            "log_link": self._log_link(row),
            "heading": self.heading,
            "title": self.name_of(row),
            "subtitle": None,
        }
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def name_of(self, row: Any) -> str:
        """Return what a row's page is headed with."""
        return str(row)

    def panels(self, request: HttpRequest, row: Any) -> list[Panel]:
        """Return what hangs on a row."""
        return [panel for panels in _panels.get(self.model, []) for panel in panels(row)]

    def all_operations(self) -> list[Operation]:
        """Return the operations, also those that apps above brought along."""
        return [*self.operations, *_operations.get(self.model, [])]

    def _log_link(self, row: Any) -> str:
        if not self.log_filter:
            return ""
        return f"{reverse('admin:audit_entry_changelist')}?{self.log_filter}={row.pk}&when=all"

    def _open(self, request: HttpRequest, row: Any = None) -> list[tuple[Operation, str]]:
        """Return the operations that are possible now, with their addresses."""
        if not self.may_operate(request):
            return []
        base = f"admin:{self.opts.app_label}_{self.opts.model_name}_operate"
        if row is None:
            return [
                (operation, reverse(f"{base}_all", args=[operation.name]))
                for operation in self.all_operations()
                if not operation.row_needed
            ]
        return [
            (operation, reverse(base, args=[quote(row.pk), operation.name]))
            for operation in self.all_operations()
            if operation.row_needed and operation.possible(row)
        ]

    def operate(self, request: HttpRequest, operation: str, object_id: str | None = None) -> HttpResponse:
        """Ask for confirmation (GET) or do it (POST).

        Raises:
            Http404: there is no such row or operation.
            PermissionDenied: it is not for this administrator.

        """
        if not self.may_operate(request):
            raise PermissionDenied
        row = None if object_id is None else self.get_object(request, unquote(object_id))
        for meant in self.all_operations():
            if meant.name == operation and meant.row_needed == (row is not None):
                return self._operate(request, meant, row)
        raise Http404

    def _operate(self, request: HttpRequest, operation: Operation, row: Any) -> HttpResponse:
        if row is not None and not operation.possible(row):
            messages.warning(request, f"“{operation.label}” is not possible any more.")
            return HttpResponseRedirect(self._row_address(row))
        status, done = 200, None
        if request.method == "POST":
            form = operation.form(request.POST)
            if form.is_valid():
                status, done = self._run(request, operation, row, form)
            else:
                status = 400
        else:
            form = operation.form(initial=operation.initial(row))
        if isinstance(done, str):
            messages.success(request, done)
            return HttpResponseRedirect(self._after(row))
        context = {
            **self.admin_site.each_context(request),
            "title": operation.label,
            "heading": self.heading,
            "opts": self.opts,
            "operation": operation,
            "row": row,
            "row_name": self.name_of(row) if row is not None else "",
            "row_link": self._row_address(row) if row is not None else "",
            "form": form,
            "once": done,
            "version": request.POST.get("version", getattr(row, "version", "")),
        }
        response = TemplateResponse(request, "admin/operation.html", context, status=status)
        response["Cache-Control"] = "no-store"
        return response

    def _run(
        self, request: HttpRequest, operation: Operation, row: Any, form: Any
    ) -> tuple[int, str | Once | None]:
        """Do it; a refusal is written into the form, and its status returned."""
        seen = request.POST.get("version", "")
        expected = frozenset({int(seen)}) if seen.isascii() and seen.isdigit() and len(seen) < 10 else None  # noqa: PLR2004
        order = Order(row, form.cleaned_data, expected, request.user)
        try:
            with tenancy.using(tenancy.DEFAULT) if self.at_root else nullcontext():
                return 200, operation.run(order)
        except ServiceError as refusal:
            detail = f" ({refusal.result})" if refusal.result else ""
            form.add_error(
                getattr(refusal, "field", None) if getattr(refusal, "field", None) in form.fields else None,
                f"{refusal.message}{detail}",
            )
            return refusal.status, None
        except ValidationError as refusal:
            for name, text in _flat(refusal.detail):
                field = name.split(".")[-1]
                form.add_error(
                    field if field in form.fields else None,
                    text if field in form.fields or not name else f"{name}: {text}",
                )
            return 400, None

    def _row_address(self, row: Any) -> str:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
        return reverse(name, args=[quote(row.pk)])

    def _after(self, row: Any) -> str:
        """Return where to go on: to the row, or to the list when it is gone."""
        if row is not None and self.model._default_manager.filter(pk=row.pk).exists():
            return self._row_address(row)
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")


def link(row: Model, text: str = "") -> Cell:
    """Return a cell that leads to a row's page."""
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_change"
    return Cell(text or str(row), reverse(name, args=[quote(row.pk)]))


def _flat(detail: Any, name: str = "") -> list[tuple[str, str]]:
    """Return the rules that were broken, each by the name of its field."""
    if isinstance(detail, dict):
        below = [_flat(value, f"{name}.{key}" if name else str(key)) for key, value in detail.items()]
        return [problem for problems in below for problem in problems]
    if isinstance(detail, list):
        return [problem for item in detail for problem in _flat(item, name)]
    return [(name, str(detail))]
