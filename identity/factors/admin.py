"""The second factors of users, on the operators' site."""

from uuid import UUID

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.factors import forgetting, services, settings_of_users
from identity.factors.kinds import FactorType
from identity.factors.models import KnownBrowser
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.panels import Panel
from identity.operator_kit.timestamps import format_time
from identity.users.models import User

_NAMES = {
    FactorType.WEBAUTHN: _("Passkey or security key"),
    FactorType.TOTP: _("Authenticator app"),
    FactorType.BACKUP_CODE: _("Backup codes"),
}


def _describe(factor: services.StoredFactor) -> str:
    name = f"{_NAMES[factor.type]} {factor.name}".strip()
    if factor.remaining is None:
        return name
    return gettext("%(name)s, %(number)s left") % {"name": name, "number": factor.remaining}


def _build_panels(user: User) -> list[Panel]:
    rows = [
        (
            _describe(factor),
            format_time(factor.created_at),
            format_time(factor.last_used_at) if factor.last_used_at else gettext("Never"),
        )
        for factor in services.get_factors(user)
    ]
    headings = (gettext("Factor"), gettext("Added"), gettext("Last used"))
    note = (
        gettext("Two-step sign-in is on: each sign-in asks for a second factor.")
        if user.two_step
        else gettext(
            "Two-step sign-in is off: a sign-in asks for a second factor only if the policy of this tenant "
            "or of an organization requires it."
        )
    )
    empty = gettext("The user has set up none.")
    return [Panel(gettext("Second factors"), headings, rows, empty=empty, note=note, operation="two-step")]


def _build_form(user: User) -> type[forms.Form]:
    choices = [(str(factor.id), _describe(factor)) for factor in services.get_factors(user)]
    return type("FactorForm", (forms.Form,), {"factor": forms.ChoiceField(choices=choices)})


def _remove(submission: Submission) -> str:
    services.remove(submission.row, UUID(submission.fields["factor"]))
    return gettext("The factor is removed.")


def _forget_browsers(submission: Submission) -> str:
    forgetting.forget_all(submission.row)
    return gettext("All browsers of the user are forgotten.")


def _reset(submission: Submission) -> str:
    services.reset(submission.row)
    return gettext("All second factors are removed; all sessions and refresh tokens have ended.")


class TwoStepForm(forms.Form):
    """Whether a user is asked for a second factor."""

    two_step = forms.BooleanField(
        required=False, label=_("A sign-in asks for a second factor, although no policy does")
    )


def _switch(submission: Submission) -> str:
    settings_of_users.set_two_step(submission.row, is_on=submission.fields["two_step"])
    return gettext("The sign-in of the user is changed.")


def _has_factors(user: User) -> bool:
    return bool(user.factors)


def _has_browsers(user: User) -> bool:
    return bool(user.factors or user.two_step) and KnownBrowser.objects.filter(user=user).exists()


register_panels(User, _build_panels)
register_operations(
    User,
    Operation(
        "two-step", _("Change two-step sign-in"),
        _("Applies from the next sign-in on. A policy of the sign-in experience asks in any case."),
        _switch, form=TwoStepForm, initial=lambda user: {"two_step": user.two_step},
        sentence=_("Change two-step sign-in of {name}"), needs_proof=True,
    ),
    Operation(
        "remove-factor", _("Remove second factor"),
        _("The user cannot prove it any longer, and gets an email. Backup codes go with the last other "
        "factor. Removing a passkey ends every session and refresh token at once."),
        _remove, form_for=_build_form, is_possible=_has_factors, is_destructive=True,
        sentence=_("Remove second factor of {name}"), needs_proof=True,
    ),
    Operation(
        "forget-browsers", _("Forget browsers"),
        _("The next sign-in in each browser asks for the second factor again. Sessions continue."),
        _forget_browsers, is_possible=_has_browsers, sentence=_("Forget browsers of {name}"),
    ),
    Operation(
        "reset-factors", _("Reset two-step sign-in"),
        _("Removes all second factors. Ends every session and refresh token at once. The user gets an email, "
        "and signs in with the first factor alone, unless a policy asks to set one up."),
        _reset, is_possible=_has_factors, is_destructive=True, sentence=_("Reset two-step sign-in of {name}"),
        needs_proof=True,
    ),
)  # fmt: skip
