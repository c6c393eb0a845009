"""What operators may do to a row: each a form of its own, a confirmation and one call of a service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from rest_framework.serializers import BaseSerializer


@dataclass(frozen=True, slots=True)
class Order:
    """What was asked for, by whom, of which row, and the versions of it that were seen."""

    row: Any
    fields: Mapping[str, Any]
    expected: frozenset[int] | None
    by: Any


@dataclass(frozen=True, slots=True)
class Once:
    """What is shown this once: a secret by its label."""

    text: str
    secrets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Done:
    """What to say, and of which row the page comes next, where it is another one."""

    text: str
    row: Any


@dataclass(frozen=True, slots=True)
class Onward:
    """Where a choice leads: another operation of the same row, or of none."""

    operation: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What would come of a form, unsaved: ``of`` makes it, ``kind`` is what it is drawn as."""

    kind: type
    of: Callable[[Order], Any]


Outcome = str | Once | Done | Onward


def _always(_: Any) -> bool:
    return True


def _nothing(_: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is done to a row, or with ``row_needed`` false to the tenant.

    ``says`` tells before it is done what it will do, ``possible`` whether it makes sense for
    a row, ``initial`` what a form shows at first; ``run`` calls the service and returns what
    to say afterwards. ``grave`` ones cannot be undone. ``form_for`` stands in for ``form`` where
    the row decides what is asked, ``draft`` is what would come of a form, to be drawn before it is
    sent, ``hidden`` ones are reached from others, ``needs`` is a permission that is asked for
    besides that of changing such rows, and what is ``in_bulk`` may be done to many
    rows of a list at once: it asks for nothing.
    """

    name: str
    label: str
    says: str
    run: Callable[[Order], Outcome]
    form: type[forms.Form] = forms.Form
    initial: Callable[[Any], dict[str, Any]] = _nothing
    possible: Callable[[Any], bool] = _always
    row_needed: bool = True
    grave: bool = False
    form_for: Callable[[Any], type[forms.Form]] | None = None
    draft: Draft | None = None
    hidden: bool = False
    needs: str = ""
    in_bulk: bool = False

    @property
    def button(self) -> str:
        """What the button says that does it."""
        return self.label if self.initial is _nothing else "Save"

    def form_of(self, row: Any) -> type[forms.Form]:
        """Return the form that is filled in for a row."""
        return self.form if self.form_for is None else self.form_for(row)


SHOWN: Final = 25  # rows of a panel


@dataclass(frozen=True, slots=True)
class Panel:
    """A short table beside a row: what hangs on it. A cell may be a ``Cell`` with a link."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    empty: str = "None."
    more: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A text that leads somewhere."""

    text: str
    href: str

    def __str__(self) -> str:
        return self.text


def checked(
    serializer: type[BaseSerializer[Any]], sent: Mapping[str, Any], row: Any = None
) -> dict[str, Any]:
    """Return fields as the API's own serializer takes them.

    Raises:
        rest_framework.serializers.ValidationError: one of them breaks a rule.

    """
    given = serializer(row, data=dict(sent), partial=row is not None)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)
