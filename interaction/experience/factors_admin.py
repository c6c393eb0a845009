"""The operators' form for second factors, with a sentence that says what the policy does."""

from typing import Any, Final

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.factors import policy
from identity.factors.kinds import FactorType
from identity.factors.policy import AVAILABLE, Prompt, SocialRule
from identity.operator_kit.panels import Card
from identity.operator_kit.texts import Text
from identity.users import row_counts
from identity.users.models import User
from interaction.experience import factor_settings
from interaction.experience.models import SignInExperience

_FACTORS: Final = {
    FactorType.WEBAUTHN: _("Passkey or security key"),
    FactorType.TOTP: _("Authenticator app"),
    FactorType.BACKUP_CODE: _("Backup codes"),
    FactorType.EMAIL_CODE: _("Code by email"),
    FactorType.PHONE_CODE: _("Code by text message"),
}
_PROMPTS: Final = {
    Prompt.NO_PROMPT: _("Only people who have switched on two-step sign-in"),
    Prompt.AT_SIGN_IN: _("Offer it to everybody once, at the next sign-in"),
    Prompt.AT_SIGN_IN_AND_SIGN_UP: _("Offer it to everybody once, at the next sign-in and after sign-up"),
    Prompt.MANDATORY: _("Require it of everybody"),
}
_SOCIAL: Final = {
    SocialRule.ASK: _("Ask after a sign-in with another provider, too"),
    SocialRule.SKIP: _("Leave it to the other provider"),
}


class FactorsForm(forms.Form):
    """The second factors of a tenant, and when it asks for them."""

    factors = forms.MultipleChoiceField(
        required=False,
        choices=[(factor.value, label) for factor, label in _FACTORS.items() if factor in AVAILABLE],
        widget=forms.CheckboxSelectMultiple,
        label=_("Second factors"),
    )
    policy = forms.ChoiceField(
        choices=[(prompt.value, label) for prompt, label in _PROMPTS.items()], label=_("Policy")
    )
    social = forms.ChoiceField(
        choices=[(rule.value, label) for rule, label in _SOCIAL.items()], label=_("Other providers")
    )
    passkeys = forms.BooleanField(
        required=False,
        label=_("Sign in with a passkey"),
        help_text=_("People with a passkey need neither password nor code"),
    )
    forgot_password_requires_factor = forms.BooleanField(
        required=False,
        label=_("Ask for the second factor before a forgotten password is replaced"),
        help_text=_("Otherwise a code by email or text message is enough for a new password."),
    )


def initial(row: SignInExperience) -> dict[str, Any]:
    """Return the initial values of ``FactorsForm``."""
    return factor_settings.complete("mfa", row.mfa) | {
        "passkeys": row.has_passkey_sign_in,
        "forgot_password_requires_factor": row.forgot_password_requires_factor,
    }


def describe(row: SignInExperience) -> list[tuple[Text, Any]]:
    """Return the lines of the overview."""
    current = policy.read(row.mfa)
    names = [label for factor, label in _FACTORS.items() if factor in current.factors]
    is_on = gettext("On") if row.has_passkey_sign_in else gettext("Off")
    passkeys = (gettext("Sign-in with a passkey"), is_on)
    if not names:
        return [(gettext("Second factors"), gettext("None")), passkeys]
    return [
        (gettext("Second factors"), ", ".join(map(str, names))),
        (gettext("Policy"), _PROMPTS[current.prompt]),
        passkeys,
    ]


def build_card(row: SignInExperience, form: forms.Form) -> Card:
    """Return the sentence that says whom the saved policy asks. The numbers are those of this moment."""
    return Card("admin/effect.html", describe_effect(row))


def describe_effect(row: SignInExperience) -> str:
    """Return a sentence such as "312 of 4,810 users have set up a factor."."""
    current = policy.read(row.mfa)
    total = row_counts.count_users()
    with_factors = User.objects.filter(factors__gt=0).count()
    have = gettext("%(number)s of %(total)s users have set up a second factor.") % {
        "number": f"{with_factors:,}",
        "total": f"{total:,}",
    }
    if not current.is_on:
        nobody = gettext("Nobody is asked for one, because no second factor is switched on.")
        return f"{have} {nobody}"
    if current.prompt is Prompt.MANDATORY:
        rest = gettext("The other %(number)s have to prove or set up one at their next sign-in.")
        return f"{have} {rest % {'number': f'{total - with_factors:,}'}}"
    if current.prompt is Prompt.NO_PROMPT:
        asked = User.objects.filter(factors__gt=0, two_step=True).count()
        some = gettext("%(number)s of them are asked for it at each sign-in. Nobody else is asked.")
        return f"{have} {some % {'number': f'{asked:,}'}}"
    skipped = User.objects.filter(factors=0).exclude(factor_skipped_at=None).count()
    offered = total - with_factors - skipped
    others = gettext("%(number)s others are offered to set up one at their next sign-in.")
    return f"{have} {others % {'number': f'{offered:,}'}}"
