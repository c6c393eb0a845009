"""Operations: what operators can do to a row. Each has a form and calls a service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from rest_framework.serializers import BaseSerializer


@dataclass(frozen=True, slots=True)
class Submission:
    """The valid input of an operation, the versions of the row that its form shows, and the administrator."""

    row: Any
    fields: Mapping[str, Any]
    expected: frozenset[int] | None
    by: Any


@dataclass(frozen=True, slots=True)
class ShowSecrets:
    """The result of an operation that created secrets, by their labels. They are shown once."""

    message: str
    secrets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ShowRow:
    """The result of an operation that leads to the page of another row."""

    message: str
    row: Any


@dataclass(frozen=True, slots=True)
class ShowForm:
    """The result of an operation that leads to the form of another operation on the same row."""

    operation: str


# A text is a message for the page of the row, or for the list if the row was deleted.
Result = str | ShowSecrets | ShowRow | ShowForm


@dataclass(frozen=True, slots=True)
class Draft:
    """How to build an unsaved object from a form. The previews of its class can be rendered from it."""

    type: type
    build: Callable[[Submission], Any]


def _always(_: Any) -> bool:
    return True


def _no_values(_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that operators do to a row, or to the tenant if ``needs_row`` is false.

    ``description`` says on the form's page what will happen. ``run`` calls the service. ``form_for``
    replaces ``form`` if the form depends on the row. ``permission`` is needed in addition to that of changing
    such rows. ``hidden`` operations are reached only by ``ShowForm``. With a ``bulk_label``, which has the
    words before and after a number, an operation without fields can be run for many rows of a list.
    """

    name: str
    label: str
    description: str
    run: Callable[[Submission], Result]
    form: type[forms.Form] = forms.Form
    initial: Callable[[Any], dict[str, Any]] = _no_values
    is_possible: Callable[[Any], bool] = _always
    needs_row: bool = True
    is_destructive: bool = False
    form_for: Callable[[Any], type[forms.Form]] | None = None
    draft: Draft | None = None
    hidden: bool = False
    permission: str = ""
    bulk_label: tuple[str, ...] = ()

    @property
    def button(self) -> str:
        """The text of the button that runs the operation."""
        return self.label if self.initial is _no_values else "Save changes"

    def get_form_class(self, row: Any) -> type[forms.Form]:
        return self.form if self.form_for is None else self.form_for(row)


def validate(
    serializer_class: type[BaseSerializer[Any]], fields: Mapping[str, Any], row: Any = None
) -> dict[str, Any]:
    """Return the fields as the API's serializer validates them.

    Raises:
        rest_framework.exceptions.ValidationError: a field breaks a rule.

    """
    serializer = serializer_class(row, data=dict(fields), partial=row is not None)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)
