"""Settings of the sign-in experience that have no effect, because other settings override them.

They are accepted, since an API that changes one object after another would otherwise depend on the order.
"""

from collections.abc import Iterator
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils.translation import gettext

from identity.factors.policy import Prompt, SocialRule
from identity.operator_kit.panels import Card
from identity.users.identifiers import Kind
from interaction.connectors.models import Connector
from interaction.experience import factor_settings
from interaction.experience.factors_admin import FactorsForm
from interaction.experience.forms import AccountsForm
from interaction.experience.models import SignInExperience

_TEMPLATE: Final = "admin/unused_settings.html"
_WITH_CODE: Final = {Kind.EMAIL, Kind.PHONE}


def build_card(row: SignInExperience, _: Any = None) -> Card | None:
    """Return the card of all settings that have no effect, or None if there are none."""
    return _build([*find_in_sign_up(row), *find_in_factors(row), *find_in_accounts(row)])


def build_sign_up_card(row: SignInExperience, _: forms.Form) -> Card | None:
    return _build(find_in_sign_up(row))


def build_accounts_card(row: SignInExperience, _: forms.Form) -> Card | None:
    return _build(find_in_accounts(row))


def find_in_sign_up(row: SignInExperience) -> Iterator[str]:
    """Yield what the settings of the registration page do not do."""
    kinds = {Kind(name) for name in row.sign_up["identifiers"]}
    if not kinds:
        return
    if row.sign_up["verify"] and not kinds & _WITH_CODE:
        yield gettext("Sign-up asks for neither email nor phone, so nothing is verified with a code.")
    if row.sign_up["password"] and not any(row.can_use_password(kind) for kind in Kind):
        yield gettext("Sign-up asks for a password, but users cannot sign in with a password.")


def find_in_factors(row: SignInExperience) -> Iterator[str]:
    """Yield what the settings of second factors do not do."""
    mfa = factor_settings.complete("mfa", row.mfa)
    trusted = factor_settings.complete("trusted_device_policy", row.trusted_device_policy)
    adaptive = factor_settings.complete("adaptive_mfa", row.adaptive_mfa)
    if not mfa["factors"]:
        changed = {
            "policy": mfa["policy"] != Prompt.NO_PROMPT,
            "social": mfa["social"] != SocialRule.ASK,
            "remember": trusted["enabled"],
            "adaptive": adaptive["enabled"],
        }
        text = gettext("No second factor is switched on, so “%(setting)s” has no effect.")
        yield from (text % {"setting": _label(FactorsForm, name)} for name in changed if changed[name])
    elif adaptive["enabled"]:
        yield from _find_in_adaptive(mfa, trusted, adaptive)


def _find_in_adaptive(mfa: Any, trusted: Any, adaptive: Any) -> Iterator[str]:
    is_always_asked = mfa["policy"] == Prompt.MANDATORY and mfa["social"] == SocialRule.ASK
    if is_always_asked and not trusted["enabled"]:
        text = gettext("Every sign-in asks for a second factor, so “%(setting)s” has no effect.")
        yield text % {"setting": _label(FactorsForm, "adaptive")}
    elif adaptive["new_country"] and not settings.COUNTRY_HEADER:
        text = gettext(
            "Countries are unknown without the setting COUNTRY_HEADER, so “%(setting)s” has no effect."
        )
        yield text % {"setting": _label(FactorsForm, "new_country")}


def find_in_accounts(row: SignInExperience) -> Iterator[str]:
    """Yield what the settings of sign-in with other providers do not do."""
    social = row.social_sign_in
    creates_while_closed = social.get("create_users_while_registration_is_closed")
    if creates_while_closed and not social["create_users"]:
        yield gettext("“%(setting)s” has no effect without “%(other)s”.") % {
            "setting": _label(AccountsForm, "create_users_while_registration_is_closed"),
            "other": _label(AccountsForm, "create_users"),
        }
    is_closed = not row.sign_up["identifiers"]
    if is_closed and social["create_users"] and not creates_while_closed and _has_providers():
        text = gettext("Registration is closed, so “%(setting)s” has no effect.")
        yield text % {"setting": _label(AccountsForm, "create_users")}


def _has_providers() -> bool:
    return Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).exists()


def _label(form: type[forms.Form], name: str) -> Any:
    return form.base_fields[name].label


def _build(texts: Any) -> Card | None:
    found = list(texts)
    return Card(_TEMPLATE, found) if found else None
