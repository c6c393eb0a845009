"""The steps and the caution of the checklist about the sign-in experience."""

from functools import partial
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from identity.operator_kit import checklist, routes
from identity.operator_kit.panels import Link
from interaction.experience import services
from interaction.experience.models import SignInExperience, default_sign_in, default_sign_up

_PERMISSION: Final = "experience.change_signinexperience"
_GUIDE: Final = "concepts/sign-in-experience"


def register() -> None:
    checklist.register(
        checklist.Step(
            3, _("Choose how users sign in"), _("With a password, a code or another provider."),
            _PERMISSION, partial(_get_form_url, "ways"), _has_methods, _GUIDE,
        ),
        checklist.Step(
            4, _("Add your logo and colour"),
            _("They appear on the sign-in page and every page that users see."),
            _PERMISSION, partial(_get_form_url, "look"), _has_brand, _GUIDE,
        ),
    )  # fmt: skip
    checklist.register_caution(_PERMISSION, _find_open_registration)


def _find_open_registration() -> checklist.Caution | None:
    """Return the caution about the default, with which everyone can create an account."""
    if not services.current().sign_up["identifiers"]:
        return None
    page = Link(_("Turn this off in Sign-in experience, Sign-up"), _get_form_url("registration"))
    return checklist.Caution(_("Everyone who reaches the sign-in page can create an account."), page)


def _has_methods(_: Any) -> bool:
    row = services.current()
    sign_up = default_sign_up() | row.sign_up
    return (row.sign_in, sign_up) != (default_sign_in(), default_sign_up())


def _has_brand(_: Any) -> bool:
    return any(services.current().branding.values())


def _get_form_url(operation: str) -> str:
    return routes.operation_url(SignInExperience, operation, services.current())
