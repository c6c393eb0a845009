"""Operations: what operators can do to a row. Each has a form and calls a service."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any, Final

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _
from rest_framework.serializers import BaseSerializer

from identity.core.impacts import Impact
from identity.operator_kit.panels import Card, Panel
from identity.operator_kit.texts import Text
from identity.submissions.shown_once import Viewer

_NEW_SECRET: Final = _("New secret")


@dataclass(frozen=True, slots=True)
class Submission:
    """The valid input of an operation, the versions of the row that its form shows, and the administrator.

    ``viewer`` is the administrator with the session, and ``request`` has the browser's cookies, for
    operations that involve another site. ``is_proven`` is whether the administrator has just proven the
    identity: a service checks it again, because a row may have changed since ``must_prove`` read it.
    """

    row: Any
    fields: Mapping[str, Any]
    expected: frozenset[int] | None
    by: Any
    viewer: Viewer | None = None
    request: HttpRequest | None = None
    is_proven: bool = False


@dataclass(frozen=True, slots=True)
class ShowSecrets:
    """The result of an operation that created secrets. The next page shows them once.

    ``secrets`` has them by label, ``variables`` by the names of environment variables. The secrets belong to
    ``row``, and its operation named ``renew`` creates new ones. ``title`` is the title of the page. ``kind``
    is what the page calls one of them: "secret" or "link".
    """

    message: Text
    secrets: Mapping[Any, str]
    row: Any
    renew: str
    variables: Mapping[str, str] = field(default_factory=dict)
    title: Text = _NEW_SECRET
    kind: str = "secret"


@dataclass(frozen=True, slots=True)
class ShowRow:
    """The result of an operation that redirects to the page of another row."""

    message: Text
    row: Any


@dataclass(frozen=True, slots=True)
class ShowForm:
    """The result of an operation that redirects to the form of another operation on the same row."""

    operation: str
    message: Text = ""


@dataclass(frozen=True, slots=True)
class ShowPanels:
    """The result of an operation that only reads. The page of the form shows the panels."""

    panels: list[Panel]


@dataclass(frozen=True, slots=True)
class ShowSite:
    """The result of an operation that redirects to another site or, with ``cookies``, to pages of users."""

    url: str
    cookies: SimpleCookie = field(default_factory=SimpleCookie)


# A string redirects to the page of the row, or to the list if the row was deleted, and is the message there.
Result = Text | ShowSecrets | ShowRow | ShowForm | ShowPanels | ShowSite


@dataclass(frozen=True, slots=True)
class Draft:
    """How to build an unsaved object of class ``type`` from a form, for the previews of that class."""

    type: type
    build: Callable[[Submission], Any]


@dataclass(frozen=True, slots=True)
class Return:
    """How an operation continues when the other site redirects the browser back to the operation's URL.

    ``form`` validates the query string. ``run`` returns the content of the next page, which ``template``
    renders under the name ``shown``. The content is stored for this session for two minutes, so reloading the
    page does not call ``run`` again.
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

    What it does:

    - ``run`` calls the service. A form that is sent twice calls it once, in one transaction.
    - ``has_own_transactions``: ``run`` calls other servers or changes very many rows, so it is called outside
      of a transaction, and each time the form is sent.
    - ``reads``: ``run`` changes nothing and returns ``ShowPanels``. The form is sent with GET.
    - ``returns``: ``run`` redirects to another site, in a new tab. The operation continues when that site
      redirects back.
    - ``serve`` gets the runner, the request and the operation, and replaces the form with other pages.

    Who can run it, and where:

    - ``permission`` is required in addition to the permission to change such rows.
    - ``needs_proof``: the administrator has to prove the identity first, for all rows or for those of which
      it is true: see ``fresh_proof``. The pages for many rows, and those of ``serve``, do not ask for it.
    - ``is_useful``: there is a button only for rows for which this is true. The form works for all.
    - ``hidden``: no button is shown. Only the result ``ShowForm`` of another operation shows the form.
    - ``section`` names the section of the row's page that has the button. Without it, the button is at the
      top or, if the operation ``is_destructive``, in the danger zone.
    - ``tab`` is the label of a tab on the row's page, which shows the form instead of a button.
    - ``edits`` is the title of the card whose values the operation changes. The card has the link *Edit*
      instead of a button, and the form replaces its values.
    - ``bulk_label`` lets operators run an operation without fields for many rows of a list. It has the text
      of the menu, and the one with the number of rows: ``ngettext_lazy(…, …, "count")``.

    What its page shows:

    - ``start`` returns other initial values, which the link ``start_label`` at the top of the form fills in.
    - ``form_for`` replaces ``form`` if the form depends on the row.
    - ``description`` says what will happen; ``bulk_description`` says it for several rows.
    - ``sentence`` is the text of the title and the button, with ``{name}`` for the name of the row.
    - ``impact`` counts what the operation would end, delete and detach.
    - ``card`` builds the card above the form, from the row and the form.
    """

    name: str
    label: Text
    description: Text
    run: Callable[[Submission], Result]
    form: type[forms.Form] = forms.Form
    initial: Callable[[Any], dict[str, Any]] = _no_values
    is_possible: Callable[[Any], bool] = _always
    is_useful: Callable[[Any], bool] = _always
    needs_row: bool = True
    is_destructive: bool = False
    form_for: Callable[[Any], type[forms.Form]] | None = None
    draft: Draft | None = None
    hidden: bool = False
    permission: str = ""
    needs_proof: bool | Callable[[Any], bool] = False
    bulk_label: tuple[Text, ...] = ()
    bulk_description: Text = ""
    sentence: Text = ""
    has_own_transactions: bool = False
    reads: bool = False
    card: Callable[[Any, forms.Form], Card | None] = _no_card
    tab: Text = ""
    section: Text = ""
    edits: Text = ""
    returns: Return | None = None
    serve: Callable[..., HttpResponse] | None = None
    impact: Callable[[Any], Impact] | None = None
    start: Callable[[Any], dict[str, Any]] | None = None
    start_label: Text = ""

    @property
    def button(self) -> str:
        """The text of the button that runs the operation."""
        return self.get_button("")

    def get_button(self, name: str) -> str:
        """Return the text of the button that runs the operation on a row with this name."""
        return self._describe(name) if self.initial is _no_values else gettext("Save changes")

    def get_title(self, name: str) -> str:
        """Return the title of the form's page for a row; without fields it is a question."""
        is_question = bool(name) and self.form is forms.Form and self.form_for is None
        return ask(self._describe(name)) if is_question else self._describe(name)

    def get_bulk_title(self, number: int) -> str:
        """Return the text of the button that runs the operation on this number of rows."""
        if number == 1:
            return str(self.label)
        title: Any = self.bulk_label[-1]
        return str(title % {"count": number})

    def _describe(self, name: str) -> str:
        return str(self.sentence).replace("{name}", name) if self.sentence and name else str(self.label)

    def must_prove(self, row: Any) -> bool:
        """Return whether the administrator has to prove the identity before the operation."""
        return self.needs_proof(row) if callable(self.needs_proof) else self.needs_proof

    def get_initial(self, row: Any, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return the initial values of the form, or the other ones if the query asks for them."""
        return self.start(row) if self.start is not None and "start" in query else self.initial(row)

    def get_form_class(self, row: Any) -> type[forms.Form]:
        return self.form if self.form_for is None else self.form_for(row)


def ask(sentence: str) -> str:
    """Return the text of a button as a question."""
    return pgettext("a sentence as a question", "%(sentence)s?") % {"sentence": sentence}


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
