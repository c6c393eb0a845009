"""The part of a page that uses or creates passkeys. A script shows the part if the browser has passkeys."""

from typing import Any

from django.utils.translation import gettext

from identity.factors import relying_party
from identity.factors.challenges import Ceremony
from interaction.experience import factor_settings
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import recovering


def for_sign_in(experience: SignInExperience) -> dict[str, Any] | None:
    """Return the part of a page for signing in, or None if the tenant or the address has no passkeys."""
    settings = factor_settings.complete("passkey_sign_in", experience.passkey_sign_in)
    if not settings["enabled"] or not relying_party.is_available():
        return None
    buttons = [(Ceremony.SIGN_IN, gettext("Sign in with a passkey"))]
    return _describe(
        Ceremony.SIGN_IN,
        buttons if settings["show_passkey_button"] else [],
        autofill=settings["allow_autofill"],
    )


def has_recovery(experience: SignInExperience) -> bool:
    """Return whether pages for signing in link to the page for recovery codes as the first factor.

    Recovery codes are for users who lost their passkeys and have no other first factor.
    """
    return experience.has_passkey_sign_in and recovering.is_possible(experience)


def for_second_factor(ceremony: Ceremony, next_url: str) -> dict[str, Any]:
    """Return the part of a page that asks for a second factor: of a sign-in, or of a confirmation.

    ``next_url`` is the page after a confirmation.
    """
    part = _describe(ceremony, [(ceremony, gettext("Use passkey or security key"))])
    return part | {"next_url": next_url}


def for_set_up(*, signs_in: bool, is_factor: bool) -> dict[str, Any]:
    """Return the part of a page that creates passkeys and, if they are a factor, security keys."""
    buttons = [(Ceremony.SET_UP, gettext("Create passkey"))] if signs_in or is_factor else []
    if is_factor:
        buttons.append((Ceremony.SET_UP_SECURITY_KEY, gettext("Add security key")))
    return _describe(Ceremony.SET_UP, buttons)


def _describe(
    ceremony: Ceremony, buttons: list[tuple[Ceremony, str]], *, autofill: bool = False
) -> dict[str, Any]:
    return {
        "ceremony": ceremony.value,
        "buttons": [{"ceremony": one.value, "label": label} for one, label in buttons],
        "autofill": autofill,
        "is_alone": ceremony is not Ceremony.SIGN_IN,  # the page has no other way in the same place
    }
