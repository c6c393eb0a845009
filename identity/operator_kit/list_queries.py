"""Which query strings lists of the operators' site take: those of their own filters, and no others.

Django lets any look-up on a model's own columns through. An administrator who may see a list could then
ask about columns that it does not show: whether a password's hash begins with certain letters.
"""

from datetime import datetime
from typing import Any, ClassVar, Final

from django.contrib.admin import FieldListFilter
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.admin.views.main import ALL_VAR, ORDER_VAR, PAGE_VAR, SEARCH_VAR
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Field
from django.http import HttpRequest
from django.utils import timezone

_OF_A_ROW: Final = frozenset({"_changelist_filters"})  # the list to go back to
_YEARS: Final = range(1900, 9999)  # times that every engine can compare in every time zone


class UnknownQuery(BadRequest):
    """A query string asks what the page does not answer."""


class DeclaredQueries:
    """The part of a list that reads its query string."""

    model: Any
    list_filter: ClassVar[Any]
    search_fields: ClassVar[Any]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Tell whether a filter of the list looks this up."""
        return lookup in self.declared_parameters()

    def declared_parameters(self) -> dict[str, "Field[Any, Any] | None"]:
        """Return the parameters of the filters, each with the column that it is compared with."""
        found: dict[str, Field[Any, Any] | None] = {}
        for one in self.list_filter:
            if isinstance(one, str):
                field = get_fields_from_path(self.model, one)[-1]
                made = FieldListFilter.create(field, None, {}, self.model, self, field_path=one)  # type: ignore[arg-type]
                found |= {name: field for name in made.expected_parameters() if name}
            else:
                found[one.parameter_name] = None
        return found

    def check_query(self, request: HttpRequest) -> None:
        """Refuse what neither the list nor one of its filters reads.

        Raises:
            UnknownQuery: a parameter is none of them, or its value cannot be compared.

        """
        declared = self.declared_parameters()
        taken = {ORDER_VAR, PAGE_VAR, ALL_VAR, *declared} | ({SEARCH_VAR} if self.search_fields else set())
        for name, values in request.GET.lists():
            if name not in taken:
                raise UnknownQuery("unknown parameter, or a value that it cannot have")
            field = declared.get(name)
            if field is not None and not all(_is_comparable(field, name, value) for value in values):
                raise UnknownQuery("unknown parameter, or a value that it cannot have")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Show the list."""
        self.check_query(request)
        return super().changelist_view(request, extra_context)  # type: ignore[misc]

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list that a query string asks for.

        Raises:
            UnknownQuery: there is no such page, or no such value.

        """
        self.check_query(request)
        try:
            return super().get_changelist_instance(request)  # type: ignore[misc]
        except IncorrectLookupParameters as error:
            raise UnknownQuery("no such page or value") from error

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show a row.

        Raises:
            UnknownQuery: the query string names more than the list to go back to.

        """
        if request.GET.keys() - _OF_A_ROW:
            raise UnknownQuery("unknown parameter")
        return super().change_view(request, object_id, form_url, extra_context)  # type: ignore[misc]


def _is_comparable(field: "Field[Any, Any]", name: str, text: str) -> bool:
    """Tell whether a text is a value that a column, or ``isnull``, can be compared with."""
    if name.endswith("__isnull"):
        return text in {"True", "False", "1", "0", "true", "false"}
    try:
        value = field.to_python(text)
    except (ValidationError, ValueError, OverflowError):
        return False
    if isinstance(value, datetime):
        return value.year in _YEARS and timezone.is_aware(value)
    return not field.choices or value in {choice for choice, _ in field.flatchoices}
