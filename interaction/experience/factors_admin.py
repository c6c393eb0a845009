"""The operators' form for second factors, with a sentence that says what the policy does."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from identity.core.text_lists import join
from identity.factors import policy
from identity.factors.policy import AVAILABLE, Prompt
from identity.operator_kit.numbers import format_number
from identity.operator_kit.texts import Text
from identity.organizations import memberships
from identity.users import row_counts
from identity.users.models import User
from interaction.experience import factor_labels, factor_settings
from interaction.experience.factor_labels import FACTORS, OF_ORGANIZATIONS, PROMPTS, SOCIAL
from interaction.experience.models import SignInExperience

_MFA: Final = ("factors", "policy", "organization_required_mfa_policy", "social")
_ADAPTIVE: Final = ("new_browser", "new_country", "inactive_days", "recent_failures")


class FactorsForm(forms.Form):
    """The second factors of a tenant, and when it asks for them. The template indents ``dependents``."""

    dependents = ("duration_days", *_ADAPTIVE)

    factors = forms.MultipleChoiceField(
        required=False,
        choices=[(factor.value, label) for factor, label in FACTORS.items() if factor in AVAILABLE],
        widget=forms.CheckboxSelectMultiple,
        label=_("Second factors"),
    )
    policy = forms.ChoiceField(
        choices=[(prompt.value, label) for prompt, label in PROMPTS.items()], label=_("Policy")
    )
    organization_required_mfa_policy = forms.ChoiceField(
        choices=[(prompt.value, label) for prompt, label in OF_ORGANIZATIONS.items()],
        label=_("Organizations that require two factors"),
    )
    social = forms.ChoiceField(
        choices=[(rule.value, label) for rule, label in SOCIAL.items()], label=_("Other providers")
    )
    passkeys = forms.BooleanField(
        required=False,
        label=_("Sign in with a passkey"),
        help_text=_("Users with a passkey need neither password nor code."),
    )
    forgot_password_requires_factor = forms.BooleanField(
        required=False,
        label=_("Ask for the second factor before a forgotten password is replaced"),
        help_text=_("Otherwise a code by email or text message is enough for a new password."),
    )
    remember = forms.BooleanField(
        required=False,
        label=_("Let users skip the second factor in their own browsers"),
        help_text=_("They tick a box after they have proven it. Switching this off ends it everywhere."),
    )
    duration_days = forms.IntegerField(min_value=1, max_value=365, label=_("For how many days"))
    adaptive = forms.BooleanField(
        required=False,
        label=_("Ask when a sign-in is unusual"),
        help_text=_("Users who have set up a second factor are asked for it for the following reasons."),
    )
    new_browser = forms.BooleanField(required=False, label=_("The browser is new to the user"))
    new_country = forms.BooleanField(
        required=False,
        label=_("The country is new to the user"),
        help_text=_("It needs a proxy that sends the country, and the setting COUNTRY_HEADER."),
    )
    inactive_days = forms.IntegerField(
        min_value=1, max_value=365, label=_("The user has not signed in for this many days")
    )
    recent_failures = forms.IntegerField(
        min_value=1, max_value=100, label=_("This many sign-ins failed within 24 hours")
    )
    sign_in_notice = forms.BooleanField(
        required=False, label=_("Email users about sign-ins from browsers that are new to them")
    )


def initial(row: SignInExperience) -> dict[str, Any]:
    """Return the initial values of ``FactorsForm``."""
    trusted = factor_settings.complete("trusted_device_policy", row.trusted_device_policy)
    adaptive = factor_settings.complete("adaptive_mfa", row.adaptive_mfa)
    return (
        factor_settings.complete("mfa", row.mfa)
        | {name: adaptive[name] for name in _ADAPTIVE}
        | {
            "passkeys": row.has_passkey_sign_in,
            "forgot_password_requires_factor": row.forgot_password_requires_factor,
            "remember": trusted["enabled"],
            "duration_days": trusted["duration_days"],
            "adaptive": adaptive["enabled"],
            "sign_in_notice": row.has_sign_in_notice,
        }
    )


def build_fields(row: SignInExperience, submitted: dict[str, Any]) -> dict[str, Any]:
    """Return the objects of the experience that a submitted ``FactorsForm`` changes.

    Raises:
        rest_framework.exceptions.ValidationError: users could be left without a way to sign in.

    """
    factor_labels.check(row, submitted)
    # A box that was not changed is not stored: its default depends on whether there are factors.
    notice = submitted["sign_in_notice"]
    account = {} if notice == row.has_sign_in_notice else {"account": {"sign_in_notice": notice}}
    return account | {
        "mfa": {name: submitted[name] for name in _MFA},
        "passkey_sign_in": {"enabled": submitted["passkeys"]},
        "forgot_password_requires_factor": submitted["forgot_password_requires_factor"],
        "trusted_device_policy": {
            "enabled": submitted["remember"],
            "duration_days": submitted["duration_days"],
        },
        "adaptive_mfa": {"enabled": submitted["adaptive"]} | {name: submitted[name] for name in _ADAPTIVE},
    }


def describe(row: SignInExperience) -> list[tuple[Text, Any]]:
    """Return the lines of the overview."""
    current = policy.read(row.mfa)
    names = [label for factor, label in FACTORS.items() if factor in current.factors]
    is_on = gettext("On") if row.has_passkey_sign_in else gettext("Off")
    passkeys = (gettext("Sign-in with a passkey"), is_on)
    if not names:
        return [(gettext("Second factors"), gettext("None")), passkeys]
    return [
        (gettext("Second factors"), join(names)),
        (gettext("Policy"), PROMPTS[current.prompt]),
        (gettext("Organizations that require two factors"), OF_ORGANIZATIONS[current.organization_prompt]),
        passkeys,
    ]


def describe_effect(row: SignInExperience) -> str:
    """Return sentences such as "Users with a second factor: 312 of 4,810."."""
    current = policy.read(row.mfa)
    total = row_counts.count_users()
    with_factors = User.objects.filter(factors__gt=0).count()
    have = gettext("Users with a second factor: %(number)s of %(total)s.") % {
        "number": format_number(with_factors),
        "total": format_number(total),
    }
    return " ".join(
        filter(None, (have, _describe_members(current), _describe_asked(current, total - with_factors)))
    )


def _describe_members(current: policy.Policy) -> str:
    """Return whom organizations ask at every sign-in; empty if they ask nobody, or the tenant asks all."""
    if current.prompt is Prompt.MANDATORY or not _do_organizations_ask(current):
        return ""
    members = memberships.count_users_in_strict_organizations()
    text = ngettext(
        "%(number)s member of organizations that require two factors has "
        "to prove or set up one at each sign-in.",
        "%(number)s members of organizations that require two factors have "
        "to prove or set up one at each sign-in.",
        members,
    )
    return text % {"number": format_number(members)}


def _do_organizations_ask(current: policy.Policy) -> bool:
    return current.is_on and current.organization_prompt is Prompt.MANDATORY


def _describe_asked(current: policy.Policy, without: int) -> str:
    """Return whom a policy asks, given the number of users without a second factor."""
    if not current.is_on:
        return gettext("Nobody is asked for one, because no second factor is switched on.")
    if current.prompt is Prompt.MANDATORY:
        text = ngettext(
            "%(number)s other user has to set one up at the next sign-in.",
            "%(number)s other users have to set one up at their next sign-in.",
            without,
        )
        return text % {"number": format_number(without)}
    if current.prompt is Prompt.NO_PROMPT:
        return _describe_choosers(current)
    offered = without - User.objects.filter(factors=0).exclude(factor_skipped_at=None).count()
    text = ngettext(
        "%(number)s other user gets an offer to set one up at the next sign-in.",
        "%(number)s other users get an offer to set one up at their next sign-in.",
        offered,
    )
    return text % {"number": format_number(offered)}


def _describe_choosers(current: policy.Policy) -> str:
    """Return how many users are asked because they chose it, where the tenant asks nobody."""
    asked = User.objects.filter(factors__gt=0, two_step=True).count()
    text = ngettext(
        "%(number)s user is asked for it at each sign-in. Nobody else is asked.",
        "%(number)s users are asked for it at each sign-in. Nobody else is asked.",
        asked,
    )
    if _do_organizations_ask(current):
        text = ngettext(
            "%(number)s user has switched two-step sign-in on. Nobody else is asked.",
            "%(number)s users have switched two-step sign-in on. Nobody else is asked.",
            asked,
        )
    return text % {"number": format_number(asked)}
