"""What the two pages that ask for a second factor share: that of a sign-in, and that of a confirmation."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from django import forms
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from identity.core import durations
from identity.core.errors import ServiceError
from identity.core.text_lists import join
from identity.factors.challenges import Ceremony
from identity.factors.kinds import ADDRESS_OF_FACTOR, RECOVERY_CODE, FactorType
from identity.limits import rules
from identity.users.models import User
from interaction.journeys import codes
from interaction.journeys.second_factor.next_step import Method
from interaction.pages import error_messages, passkey_part

_LABELS: Final = {
    FactorType.TOTP: _("Authenticator app"),
    FactorType.BACKUP_CODE: _("Backup code"),
    FactorType.EMAIL_CODE: _("Code by email"),
    FactorType.PHONE_CODE: _("Code by text message"),
    FactorType.WEBAUTHN: _("Passkey or security key"),
}


_RECOVERY_LABEL: Final = _("Recovery code from the people who run this service")


_NAMES: Final = {
    FactorType.TOTP: pgettext_lazy("in a list", "authenticator app"),
    FactorType.EMAIL_CODE: pgettext_lazy("in a list", "code by email"),
    FactorType.PHONE_CODE: pgettext_lazy("in a list", "code by text message"),
    FactorType.WEBAUTHN: pgettext_lazy("in a list", "passkey or security key"),
}


class FactorForm(forms.Form):
    """The code of a second factor."""

    code = forms.CharField(max_length=64, error_messages={"required": _("Enter the code.")})
    remember = forms.BooleanField(required=False)


def join_names(factors: Iterable[FactorType]) -> str:
    """Return the names of factors as part of a line. Backup codes are left out: they replace another one."""
    return join(_NAMES[factor] for factor in factors if factor in _NAMES)


def get_factor(request: HttpRequest, usable: Sequence[FactorType]) -> FactorType:
    """Return the factor that the user has chosen, else the preferred one."""
    sent = request.POST if request.method == "POST" else request.GET
    chosen = sent.get("with", "")
    return next((factor for factor in usable if factor.value == chosen), usable[0])


def describe(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest,
    user: User,
    methods: Sequence[Method],
    form: forms.Form,
    *,
    is_sent: bool,
    error: ServiceError | None,
    page: Callable[..., str],
    ceremony: Ceremony,
    next_url: str = "",
    has_recovery: bool = False,
) -> dict[str, Any]:
    """Return the values of a page for one factor. ``page`` returns the URL of the page for another factor.

    ``has_recovery`` says that a recovery code of an administrator can be entered, too.
    """
    others = [(method.type.value, _LABELS[method.type]) for method in methods]
    if has_recovery:
        others.append((RECOVERY_CODE, _RECOVERY_LABEL))
        if is_recovery(request):
            return {"factor": RECOVERY_CODE, "others": _links(others[:-1], page)}
    factor = get_factor(request, [method.type for method in methods])
    kind = ADDRESS_OF_FACTOR.get(factor)
    masked = next(method.masked for method in methods if method.type is factor)
    # The field stays after a wrong code, and if a code was sent a moment ago.
    was_sent = is_sent or form.is_bound or (error is not None and error.reason == "sent_too_often")
    wait = 0
    if is_sent:
        wait = rules.CODE_PAUSE.seconds
    elif error and was_sent:
        wait = error_messages.get_wait(error)
    return {
        "factor": factor.value,
        "passkey": passkey_part.for_second_factor(ceremony, next_url)
        if factor is FactorType.WEBAUTHN
        else None,
        "masked": masked,
        "is_sent": was_sent,
        "has_letters": kind is not None and codes.has_long_codes(kind, getattr(user, kind)),
        "is_mailed": factor is FactorType.EMAIL_CODE,
        "wait": wait,
        "wait_text": durations.describe(wait),
        "others": _links([other for other in others if other[0] != factor.value], page),
    }


def is_recovery(request: HttpRequest) -> bool:
    """Return whether the user chose to enter a recovery code."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get("with") == RECOVERY_CODE


def _links(others: Sequence[tuple[str, Promise]], page: Callable[..., str]) -> list[dict[str, Any]]:
    return [{"label": label, "url": page(**{"with": name})} for name, label in others]


def describe_refusal(error: ServiceError) -> str:
    """Return the sentences of a refusal to send a code, or to skip or cancel the step."""
    return " ".join(error_messages.get_messages(error)) or gettext("We can't send codes right now.")
