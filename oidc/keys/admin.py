"""Signing keys, for operators. Nothing here reads a private half."""

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext_lazy as _

from identity.core.algorithms import Algorithm
from identity.core.impacts import Impact
from identity.operator_kit import health, routes
from identity.operator_kit.algorithms import algorithm_choices
from identity.operator_kit.labels import get_label
from identity.operator_kit.operations import Operation, ShowRow, Submission
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Link
from identity.operator_kit.timestamps import format_text, format_time
from oidc.keys import retirement, services, usage
from oidc.keys.models import SigningKey

_ROTATE_DAYS: Final = 90


# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (
    gettext_noop("Activated"),
    gettext_noop("Algorithm"),
    gettext_noop("Created"),
    gettext_noop("ID"),
    gettext_noop("Retired"),
    gettext_noop("Status"),
    gettext_noop("Active"),
    gettext_noop("Next"),
    gettext_noop("Previous"),
)


class AlgorithmForm(forms.Form):
    """An algorithm that has keys, or the tenant's default."""

    algorithm = forms.ChoiceField(
        label=_("Algorithm"), required=False, choices=algorithm_choices(_("The tenant's default"))
    )


class NewAlgorithmForm(forms.Form):
    """An algorithm to sign with besides the default one."""

    algorithm = forms.ChoiceField(
        label=_("Algorithm"),
        choices=[(name, name) for name in ("RS256", "PS256", "EdDSA", "ES256")],
        help_text=_("RS256 is the one that every client of OpenID Connect knows."),
    )


def _add(submission: Submission) -> str:
    algorithm = submission.fields["algorithm"]
    services.ensure(algorithm)
    message = gettext("There is a key for %(algorithm)s. Applications and API resources may name it now.")
    return message % {"algorithm": algorithm}


def _prepare(submission: Submission) -> ShowRow:
    key = services.prepare(submission.fields["algorithm"])
    message = gettext("Key %(id)s is published. It becomes active at the next rotation.")
    return ShowRow(message % {"id": key.pk}, key)


def _rotate(submission: Submission) -> str:
    key = services.rotate(submission.fields["algorithm"])
    return gettext("Key %(id)s is now active.") % {"id": key.pk}


def _retire(submission: Submission) -> str:
    key = retirement.retire(submission.row.algorithm)
    message = gettext("%(algorithm)s is retired. Delete its key when the last of its tokens has expired.")
    return message % {"algorithm": key.algorithm}


def _can_retire(key: SigningKey) -> bool:
    is_needed = key.is_default or key.algorithm == Algorithm.ES256
    return key.status == SigningKey.Status.ACTIVE and not is_needed


def _remove(submission: Submission) -> str:
    services.remove(submission.row)
    return gettext("The key is deleted.")


def _get_impact_of_removal(key: SigningKey) -> Impact:
    """Return the impact of deleting a key: the tokens that it signed are refused before they expire."""
    last = usage.get_last_expiry(key)
    if last is None:
        return Impact()
    sentence = gettext("Tokens that would be valid until %(time)s are refused")
    time = format_text(last, "%Y-%m-%d %H:%M")
    return Impact(tokens_valid_until=last, sentences=(sentence % {"time": time},))


def _find_due() -> list[health.Problem]:
    """Return the tenant's default key if it has signed for longer than it should."""
    keys = SigningKey.objects.default().only("activated_at", "created_at")
    ages = [(timezone.now() - (key.activated_at or key.created_at)).days for key in keys]
    return [_describe_age(days) for days in ages if days >= _ROTATE_DAYS]


def _describe_age(days: int) -> health.Problem:
    text = ngettext(
        "The signing key has been in use for %(count)s day.",
        "The signing key has been in use for %(count)s days.",
        days,
    )
    detail = ngettext(
        "Rotate it about every day. Tokens that it signed stay valid.",
        "Rotate it about every %(count)s days. Tokens that it signed stay valid.",
        _ROTATE_DAYS,
    )
    page = Link(gettext("Rotate signing keys"), routes.operation_url(SigningKey, "rotate", None))
    return health.Problem(text % {"count": days}, detail % {"count": _ROTATE_DAYS}, page)


health.register("keys.view_signingkey", _find_due)


@admin.register(SigningKey)
class SigningKeyAdmin(Pages):
    """Signing keys: the active ones, the next ones and those before."""

    section = "Settings"
    place = 4
    title = _("Signing keys")
    list_display = ("algorithm", "status", "default", "created_at", "activated_at", "retired_at", "id")
    list_display_links = ("algorithm",)
    ordering = ("status", "-created_at", "-pk")  # active, next, previous: also the alphabetical order
    fields = (
        "id", "status", "algorithm", "default", "created_at", "activated_at", "retired_at", "safe_to_delete",
    )  # fmt: skip
    operations = (
        Operation(
            "prepare", _("Prepare next key"),
            _("Publishes it in the key set, so that applications know it before a rotation makes it active."),
            _prepare, form=AlgorithmForm, needs_row=False,
        ),
        Operation(
            "rotate", _("Rotate signing keys"),
            _("The next key becomes active, or a new one if there is none. Tokens of the old one stay "
            "valid."),
            _rotate, form=AlgorithmForm, needs_row=False, is_destructive=True,
        ),
        Operation(
            "add", _("Add algorithm"),
            _("Creates a key that is published and active at once. The tenant's default stays as it is."),
            _add, form=NewAlgorithmForm, needs_row=False,
        ),
        Operation(
            "retire", _("Retire algorithm"),
            _(
                "The key signs no more tokens and gets no successor. It stays published, and tokens that it "
                "signed stay valid, until it is deleted. No application, API resource or setting may name "
                "the algorithm."
            ),
            _retire, is_possible=_can_retire, is_destructive=True,
        ),
        Operation(
            "delete", _("Delete signing key"),
            _("Tokens that this key signed are refused at once, everywhere."),
            _remove, is_possible=lambda key: key.status != SigningKey.Status.ACTIVE, is_destructive=True,
            impact=_get_impact_of_removal,
        ),
    )  # fmt: skip

    def get_row_name(self, row: SigningKey) -> str:
        """Return the algorithm and the status."""
        return f"{row.algorithm} ({get_label(row.get_status_display())})"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the keys without the columns that the pages do not show."""
        return super().get_queryset(request).defer("public_jwk", "sealed_private_key")

    @admin.display(description=_("Default"), boolean=True)
    def default(self, key: SigningKey) -> bool:
        """Whether the key signs unless an application or API resource names an algorithm."""
        return key.is_default and key.status == SigningKey.Status.ACTIVE

    @admin.display(description=_("Safe to delete"))
    def safe_to_delete(self, key: SigningKey) -> str:
        """Return when the last token that the key signed expires."""
        if key.status == SigningKey.Status.ACTIVE:
            return gettext("Never while it is active")
        last = usage.get_last_expiry(key)
        return gettext("Now") if last is None else format_time(last)
