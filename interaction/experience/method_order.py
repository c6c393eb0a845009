"""The order of sign-in methods, on the operators' site: the identifiers, and password or code first."""

from typing import Any, Final

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from identity.operator_kit.operations import Operation, ShowForm, Submission, validate
from interaction.experience import services
from interaction.experience.forms import KINDS
from interaction.experience.models import WAYS, SignInExperience
from interaction.experience.serializers import ExperienceSerializer

NAME: Final = "arrange"
_NAMES: Final = {
    **{kind.value: name for kind, name in KINDS.items()},
    **dict(zip(WAYS, (_("Password"), _("Code")), strict=True)),
}


class MoveButtons(forms.Widget):
    """Both lists in their order, each line with two buttons that move it."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        super().__init__()
        self.lists = lists

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        return format_html_join("", "<h3>{}</h3>{}", (
            (title, self._list(name, items)) for title, items in self.lists.items()
        ))  # fmt: skip

    def _list(self, name: str, items: list[str]) -> SafeString:
        lines = (
            (
                _NAMES[item],
                _button(name, item, "up", is_possible=place > 0),
                _button(name, item, "down", is_possible=place < len(items) - 1),
            )
            for place, item in enumerate(items)
        )
        lines_html = format_html_join("", "<li><span>{}</span>{}{}</li>", lines)
        return format_html('<ol class="arranged">{}</ol>', lines_html)


def _button(name: str, item: str, way: str, *, is_possible: bool) -> SafeString:
    label = gettext("Move %(name)s up") if way == "up" else gettext("Move %(name)s down")
    return format_html(
        '<button class="move" name="{}" value="{} {}" aria-label="{}"{}>{}</button>',
        name, item, way, label % {"name": _NAMES[item]}, SafeString("" if is_possible else " disabled"),
        "↑" if way == "up" else "↓",
    )  # fmt: skip


def build_form(row: SignInExperience) -> type[forms.Form]:
    """Return the form with a step of the order: an identifier or a way, and whether it moves up or down."""
    lists = {
        gettext("Identifiers"): [kind.value for kind in row.kinds],
        gettext("Password or code"): row.ways,
    }
    moves = [f"{item} {way}" for item in _NAMES for way in ("up", "down")]
    field = forms.ChoiceField(
        label=pgettext("sequence", "Order"),
        required=False,
        choices=[(move, move) for move in moves],
        widget=MoveButtons(lists),
    )
    return type("ArrangeMethodsForm", (forms.Form,), {"move": field})


def _arrange(submission: Submission) -> str | ShowForm:
    item, _, way = submission.fields["move"].partition(" ")
    if not item:
        return gettext("The order is saved.")
    row: SignInExperience = submission.row
    if item in WAYS:
        changed: dict[str, Any] = {"ways": _move(row.ways, item, is_up=way == "up")}
    else:
        off = {"password": False, "verification_code": False}
        methods = {method["identifier"]: method for method in row.sign_in["methods"]}
        order = _move([kind.value for kind in row.kinds], item, is_up=way == "up")
        changed = {"methods": [methods.get(kind, {"identifier": kind} | off) for kind in order]}
    fields = validate(ExperienceSerializer, {"sign_in": changed}, row)
    services.change(fields, expected=submission.expected, is_proven=submission.is_proven)
    return ShowForm(NAME)


def _move(items: list[str], item: str, *, is_up: bool) -> list[str]:
    """Return a list with one item one place earlier or later; at its end it stays."""
    place = items.index(item)
    other = place - 1 if is_up else place + 1
    if not 0 <= other < len(items):
        return items
    moved = list(items)
    moved[place], moved[other] = moved[other], moved[place]
    return moved


OPERATION: Final = Operation(
    NAME, _("Arrange sign-in methods"),
    _("The pages name the identifiers in this order. The way that is first is the page that users see first; "
    "it leads to the other. Each step is saved at once."),
    _arrange, form_for=build_form, initial=lambda _: {}, tab=pgettext_lazy("sequence", "Order"),
)  # fmt: skip
