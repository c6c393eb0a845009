"""The columns of lists and the fields of pages: timestamps, flags as badges, choices as labels."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from django.contrib.admin import ModelAdmin, display
from django.contrib.admin.helpers import AdminForm
from django.contrib.admin.utils import flatten_fieldsets
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy

from identity.operator_kit import badges
from identity.operator_kit.labels import get_label
from identity.operator_kit.texts import Text
from identity.operator_kit.timestamps import format_time

Column = str | Callable[[Any], Any]
_VERIFIED: Final = "_verified"
DETAILS: Final = gettext_lazy("Details")
COPIED: Final = frozenset({"id", "client_id", "redirect_uri", "issuer"})  # fields with a copy button
_RECORD: Final = ("created_at", "updated_at", "id")


def name_rows(model: type[models.Model]) -> Text:
    """Return the plural of a model as a heading. An ``admin`` module marks its label."""
    return gettext_lazy(str(model._meta.verbose_name_plural).capitalize())


def group_fields(pages: "ModelAdmin[Any]", groups: Iterable[tuple[Text, Any]]) -> Any:
    """Return groups of fields in Django's format. The last group, *Record*, has the fields of every row."""
    groups = tuple(groups)
    record = tuple(name for name in _RECORD if any(name in names for _, names in groups))
    shown = [(title, tuple(name for name in names if name not in _RECORD)) for title, names in groups]
    return [
        (title, {"fields": format_columns(pages, names)})
        for title, names in [*shown, (gettext("Record"), record)]
        if names
    ]


def get_values(pages: "ModelAdmin[Any]", request: HttpRequest, row: Any) -> AdminForm:
    """Return the groups of fields of a row with their values, none of which can be edited."""
    groups: Any = pages.get_fieldsets(request, row)
    form = pages.get_form(request, row, change=True)(instance=row)
    return AdminForm(form, groups, {}, flatten_fieldsets(groups), model_admin=pages)


def format_columns(pages: "ModelAdmin[Any]", names: Iterable[Any]) -> tuple[Column, ...]:
    """Return the columns of a list or page. A function replaces each column that needs formatting."""
    fields = {field.name: field for field in pages.model._meta.fields}
    return tuple(_format_field(fields[name]) if name in fields else _format(pages, name) for name in names)


def _format_field(field: Any) -> Column:
    if isinstance(field, models.DateTimeField):
        label = get_label(str(field.verbose_name).removesuffix(" at"))
        return _column(field, label, lambda row: format_time(getattr(row, field.name)))
    if isinstance(field, models.BooleanField):
        return _column(field, get_label(field.verbose_name), lambda row: _format_flag(row, field.name))
    if field.choices:
        label = get_label(field.verbose_name)
        return _column(field, label, lambda row: get_label(getattr(row, f"get_{field.name}_display")()))
    return str(field.name)


def _column(field: Any, label: str, get_text: Callable[[Any], str]) -> Column:
    def column(row: Any) -> str:
        return get_text(row)

    column.__name__ = field.name  # a part of the cell's CSS class
    return display(description=label, ordering=field.name)(column)


def _format_flag(row: Any, name: str) -> str:
    value = bool(getattr(row, name))
    if not name.endswith(_VERIFIED):
        return badges.yes_or_no(value=value)
    return badges.verified(value=value) if getattr(row, name.removesuffix(_VERIFIED)) else "-"


def _format(pages: "ModelAdmin[Any]", name: Any) -> Column:
    method = getattr(pages, name, None) if isinstance(name, str) else None
    if not getattr(method, "boolean", False):
        return name  # type: ignore[no-any-return]

    def column(row: Any) -> str:
        return badges.yes_or_no(value=bool(method(row)))  # type: ignore[misc]

    column.__name__ = name
    return display(
        description=method.short_description,  # type: ignore[union-attr]
        ordering=getattr(method, "admin_order_field", None),
    )(column)
