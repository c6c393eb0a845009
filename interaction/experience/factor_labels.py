"""What operators read for second factors and their policies, in the form and in its errors."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError

from identity.core.text_lists import join
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.policy import ENROLABLE, Prompt, SocialRule
from interaction.experience import factor_settings
from interaction.experience.models import SignInExperience

FACTORS: Final = {
    FactorType.WEBAUTHN: _("Passkey or security key"),
    FactorType.TOTP: _("Authenticator app"),
    FactorType.BACKUP_CODE: _("Backup codes"),
    FactorType.EMAIL_CODE: _("Code by email"),
    FactorType.PHONE_CODE: _("Code by text message"),
}
PROMPTS: Final = {
    Prompt.NO_PROMPT: _("Only users who have switched on two-step sign-in"),
    Prompt.AT_SIGN_IN: _("Offer it to everybody once, at the next sign-in"),
    Prompt.AT_SIGN_IN_AND_SIGN_UP: _("Offer it to everybody once, at the next sign-in and after sign-up"),
    Prompt.MANDATORY: _("Require it of everybody"),
}
OF_ORGANIZATIONS: Final = {
    Prompt.NO_PROMPT: _("Ask their members when an application requests the organization"),
    Prompt.MANDATORY: _("Ask their members at every sign-in"),
}
SOCIAL: Final = {
    SocialRule.ASK: _("Ask after a sign-in with another provider, too"),
    SocialRule.SKIP: _("Leave it to the other provider"),
}


def check(row: SignInExperience, submitted: Mapping[str, Any]) -> None:
    """Refuse, in the words of the form, what ``factor_settings.check`` refuses in those of the API.

    Raises:
        ValidationError: users could be left without a way to sign in.

    """
    labels = {"policy": PROMPTS, "organization_required_mfa_policy": OF_ORGANIZATIONS}
    problems = {
        field: gettext("“%(policy)s” needs one of these: %(factors)s")
        % {"policy": labels[field][Prompt.MANDATORY], "factors": join(FACTORS[name] for name in ENROLABLE)}
        for field in factor_settings.find_unfit_policies(submitted)
    }
    only_channel = factor_settings.get_only_channel(row.sign_in)
    for factor, channel in ADDRESS_OF_FACTOR.items():
        if factor in submitted["factors"] and channel == only_channel:
            text = gettext("“%(factor)s” cannot be the second step while it is the only first step")
            problems["factors"] = text % {"factor": FACTORS[factor]}
    if problems:
        raise ValidationError(problems)
