"""Operations: what operators can do to a row. Each has a form and calls a service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from rest_framework.serializers import BaseSerializer

from identity.core.impacts import Impact
from identity.operator_kit.panels import Card, Panel
from identity.submissions.shown_once import Viewer


@dataclass(frozen=True, slots=True)
class Submission:
    """The valid input of an operation, the versions of the row that its form shows, and the administrator.

    ``viewer`` is the administrator with the session, and ``request`` has the browser's cookies, for
    operations that involve another site.
    """

    row: Any
    fields: Mapping[str, Any]
    expected: frozenset[int] | None
    by: Any
    viewer: Viewer | None = None
    request: HttpRequest | None = None


@dataclass(frozen=True, slots=True)
class ShowSecrets:
    """The result of an operation that created secrets, by their labels. They are shown once.

    They belong to ``row``, whose operation ``renew`` creates others. ``variables`` has them by the names of
    environment variables. ``title`` is that of the page, and ``kind`` what the page calls each of them.
    """

    message: str
    secrets: Mapping[str, str]
    row: Any
    renew: str
    variables: Mapping[str, str] = field(default_factory=dict)
    title: str = "New secret"
    kind: str = "secret"


@dataclass(frozen=True, slots=True)
class ShowRow:
    """The result of an operation that leads to the page of another row."""

    message: str
    row: Any


@dataclass(frozen=True, slots=True)
class ShowForm:
    """The result of an operation that leads to the form of an operation on the same row."""

    operation: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ShowPanels:
    """The result of an operation that only reads. The page of the form shows the panels."""

    panels: list[Panel]


@dataclass(frozen=True, slots=True)
class ShowSite:
    """The result of an operation that leads to another site, or to pages of users, which need ``cookies``."""

    url: str
    cookies: SimpleCookie = field(default_factory=SimpleCookie)


# A text is a message for the page of the row, or for the list if the row was deleted.
Result = str | ShowSecrets | ShowRow | ShowForm | ShowPanels | ShowSite


@dataclass(frozen=True, slots=True)
class Draft:
    """How to build an unsaved object from a form. The previews of its class can be rendered from it."""

    type: type
    build: Callable[[Submission], Any]


@dataclass(frozen=True, slots=True)
class Return:
    """How an operation goes on when the other site leads back to it, with a query.

    ``form`` validates the query. ``run`` returns what a page with ``template`` shows as ``shown``, to this
    session and for two minutes, so that reloading the page repeats nothing.
    """

    form: type[forms.Form]
    run: Callable[[Submission], dict[str, Any]]
    template: str


def _always(_: Any) -> bool:
    return True


def _no_values(_: Any) -> dict[str, Any]:
    return {}


def _no_card(row: Any, form: forms.Form) -> Card | None:
    return None


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that operators do to a row, or to the tenant if ``needs_row`` is false.

    ``description`` says on the form's page what will happen. ``run`` calls the service. ``form_for``
    replaces ``form`` if the form depends on the row. ``permission`` is needed in addition to that of changing
    such rows. ``hidden`` operations are reached only by ``ShowForm``. With a ``bulk_label``, which has the
    words before and after a number, an operation without fields can be run for many rows of a list.
    ``bulk_description`` replaces ``description`` for several rows.
    The page of a row with operations that name a ``tab`` has tabs, which lead to their forms.
    ``section`` is that of the row's page which has the button; without one, the button is at the top, or in
    the danger zone. ``edits`` is the title of the card whose values the operation changes: the card has the
    link *Edit* instead of a button, and shows the form in place.
    ``sentence`` is the label with ``{name}`` for the name of the row, for the form's title and button.
    ``impact`` counts what the operation would end, delete and detach; the page says it above the button.
    ``card`` returns what the page shows above the form, from the row and the form.

    A form that is sent twice runs its operation once, in one transaction. An operation with
    ``has_own_transactions`` calls other servers or changes very many rows, so it must not run in one, and is
    run each time. One that only ``reads`` has a form that is sent with GET, and shows panels.
    One with ``returns`` leads to another site, in a new tab, and goes on when that site leads back.
    ``serve`` replaces the form with pages of its own: it is called with the runner, the request and the
    operation.
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
    bulk_description: str = ""
    sentence: str = ""
    has_own_transactions: bool = False
    reads: bool = False
    card: Callable[[Any, forms.Form], Card | None] = _no_card
    tab: str = ""
    section: str = ""
    edits: str = ""
    returns: Return | None = None
    serve: Callable[..., HttpResponse] | None = None
    impact: Callable[[Any], Impact] | None = None

    @property
    def button(self) -> str:
        """The text of the button that runs the operation."""
        return self.get_button("")

    def get_button(self, name: str) -> str:
        """Return the text of the button that runs the operation on a row with this name."""
        return self._describe(name) if self.initial is _no_values else "Save changes"

    def get_title(self, name: str) -> str:
        """Return the title of the form's page for a row; without fields it is a question."""
        is_question = bool(name) and self.form is forms.Form and self.form_for is None
        return self._describe(name) + ("?" if is_question else "")

    def _describe(self, name: str) -> str:
        return self.sentence.replace("{name}", name) if self.sentence and name else self.label

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
