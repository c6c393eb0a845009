"""Lists: the highest number of rows that they count, and the query strings that they accept.

Django allows filters by any column. An administrator who may see a list could then find out what it does not
show: whether the hash of a password starts with certain letters. So only declared filters are accepted.
"""

from datetime import datetime
from typing import Any, Final

from django.contrib.admin import FieldListFilter, ModelAdmin
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import Paginator
from django.db.models import Field
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property

from identity.operator_kit import in_place, kept_input

_MAX_ROWS: Final = 10_000
# Django's parameter with the filters of the list before, and the parameters that open and fill in a card.
_ROW_PARAMETERS: Final = frozenset({"_changelist_filters", in_place.PARAMETER, kept_input.PARAMETER})
_YEARS: Final = range(1900, 9999)  # both databases can compare these in every time zone


class BoundedPaginator(Paginator):  # type: ignore[type-arg]  # generic for type checkers alone
    """A paginator that counts and shows only the first 10,000 rows, so that long lists stay fast."""

    @cached_property
    def count(self) -> int:
        """The number of rows, up to the maximum."""
        rows: Any = self.object_list
        return int(rows[:_MAX_ROWS].count())


class UnknownQuery(BadRequest):
    """The query string has a parameter, a page or a value that does not exist."""


def get_filter_fields(pages: "ModelAdmin[Any]", request: HttpRequest) -> dict[str, Any]:
    """Return the parameters of a list's filters, each with the field that it is compared with, if any."""
    fields: dict[str, Any] = {}
    for item in pages.list_filter:
        if isinstance(item, str):
            field = get_fields_from_path(pages.model, item)[-1]
            list_filter = FieldListFilter.create(field, request, {}, pages.model, pages, field_path=item)
            fields |= {name: field for name in list_filter.expected_parameters() if name}
        else:
            fields[item.parameter_name] = None  # type: ignore[union-attr]  # a SimpleListFilter
    return fields


def check_list_query(pages: "ModelAdmin[Any]", request: HttpRequest) -> None:
    """Check the query string of a list.

    Raises:
        UnknownQuery: there is no such parameter, or its value cannot be compared.

    """
    filter_fields = get_filter_fields(pages, request)
    search = {SEARCH_VAR} if pages.search_fields else set()
    parameters = {ORDER_VAR, PAGE_VAR, ALL_VAR, *search, *filter_fields}
    for name, values in request.GET.lists():
        field = filter_fields.get(name)
        is_comparable = field is None or all(_is_comparable(field, name, value) for value in values)
        if name not in parameters or not is_comparable:
            raise UnknownQuery("unknown parameter, or a value that it cannot have")


def check_row_query(request: HttpRequest, own: frozenset[str] = frozenset()) -> None:
    """Check the query string of a row's page, which may have ``own`` parameters.

    Raises:
        UnknownQuery: there is no such parameter.

    """
    if request.GET.keys() - _ROW_PARAMETERS - own:
        raise UnknownQuery("unknown parameter")


def _is_comparable(field: "Field[Any, Any]", name: str, text: str) -> bool:
    """Return whether a text is a value that a column, or ``isnull``, can be compared with."""
    if name.endswith("__isnull"):
        return text in {"True", "False", "1", "0", "true", "false"}
    try:
        value = field.to_python(text)
    except (ValidationError, ValueError, OverflowError):
        return False
    if isinstance(value, datetime):
        return value.year in _YEARS and timezone.is_aware(value)
    return not field.choices or value in {choice for choice, _ in field.flatchoices}
