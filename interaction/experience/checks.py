"""The doctor's checks of sign-in experiences."""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's name

from identity.core.doctor_checks import doctor_check, join_names
from identity.factors import relying_party
from identity.factors.kinds import FactorType
from identity.factors.policy import Prompt
from interaction.connectors import delivery, messages
from interaction.connectors.models import Connector
from interaction.experience import breached_passwords, message_templates
from interaction.experience.models import SignInExperience

_CODE_CHANNELS: Final = {FactorType.EMAIL_CODE: messages.EMAIL, FactorType.PHONE_CODE: messages.SMS}
_CHANNELS: Final = {"email": messages.EMAIL, "phone": messages.SMS}


@doctor_check
def sign_in_methods() -> Iterator[CheckMessage]:
    """Report tenants whose users need codes that no connector can send."""
    unable: list[str] = []
    without_channels: list[str] = []
    by_tenant = delivery.channels_by_tenant()
    for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug"):
        channels = by_tenant[experience.tenant.pk]
        lacking = {kind for kind in _needed(experience) if _CHANNELS[kind] not in channels}
        if lacking:
            unable.append(f"{experience.tenant.slug} ({' and '.join(sorted(lacking))})")
        elif not channels:
            without_channels.append(experience.tenant.slug)
    if unable:
        yield Error(
            f"users need codes, and no connector can send them: {join_names(unable)}",
            hint="add a connector of that type (POST /api/v1/connectors), test and enable it, or change the "
            "sign-in experience so that no code is needed",
            id="experience.E001",
        )
    if without_channels:
        yield Info(
            "no email or SMS connector is enabled, so users cannot replace a forgotten password: "
            f"{join_names(without_channels)}",
            hint="add and enable a connector of type Email or Sms",
            id="experience.I002",
        )


@doctor_check
def social_registration() -> Iterator[CheckMessage]:
    """Report tenants in which social sign-in creates no users, because registration is closed."""
    with_buttons = set(
        Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).values_list("tenant_id", flat=True)
    )
    closed = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if experience.tenant_id in with_buttons
        and experience.social_sign_in["create_users"]
        and not experience.can_create_social_users
    ]
    if closed:
        yield Info(
            "registration is closed, so social sign-in creates no users either: " + join_names(closed),
            hint="to create users anyway, set social_sign_in.create_users_while_registration_is_closed of "
            "the sign-in experience to true; otherwise set social_sign_in.create_users to false",
            id="experience.I003",
        )


@doctor_check
def text_messages() -> Iterator[CheckMessage]:
    """Report tenants that send text messages to every country, which makes toll fraud possible."""
    by_tenant = delivery.channels_by_tenant()
    everywhere = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if messages.SMS in by_tenant[experience.tenant.pk] and not experience.sms_countries
    ]
    if everywhere and not settings.DEVELOPMENT:
        yield Info(
            "text messages are sent to every country, including those used for toll fraud: "
            + join_names(everywhere),
            hint="set account.sms_countries of the sign-in experience to the countries of your users",
            id="experience.I004",
        )


@doctor_check
def breached_password_list() -> Iterator[CheckMessage]:
    """Report a list of breached passwords that is missing or cannot be read."""
    wanted = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if experience.password_policy.get("reject_breached")
    ]
    problem = "BREACHED_PASSWORDS is not set" if wanted else ""
    if breached_passwords.is_available():
        problem = ""
        try:
            breached_passwords.check_list()
        except breached_passwords.BadList as error:
            problem = str(error)
    if problem:
        yield Error(
            f"breached passwords are not refused: {problem}"
            + (f". Tenants whose policy refuses them: {join_names(wanted)}" if wanted else ""),
            hint="download the hashes of Have I Been Pwned, as a directory of range files or as one sorted "
            "file, and set BREACHED_PASSWORDS to the path (docs/configuration.md)",
            id="experience.E005",
        )


@doctor_check
def second_factors() -> Iterator[CheckMessage]:
    """Report tenants whose second factors cannot work: nobody can sign in, or codes are not sent."""
    locked_out: list[str] = []
    not_sent: list[str] = []
    by_tenant = delivery.channels_by_tenant()
    for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug"):
        policy, slug = experience.factor_policy, experience.tenant.slug
        wanted = {factor for factor in policy.factors if factor in _CODE_CHANNELS}
        sent = {factor for factor in wanted if _CODE_CHANNELS[factor] in by_tenant[experience.tenant.pk]}
        usable = sent | (policy.factors & {FactorType.TOTP})
        if relying_party.is_available():
            usable |= policy.factors & {FactorType.WEBAUTHN}
        if policy.prompt is Prompt.MANDATORY and policy.is_on and not usable:
            locked_out.append(slug)
        elif wanted - sent:
            not_sent.append(slug)
    if locked_out:
        yield Error(
            f"users must have a second factor, and none that is switched on works: {join_names(locked_out)}",
            hint="switch Totp on in mfa.factors of the sign-in experience; passkeys need https and a domain "
            "name, and codes need a connector",
            id="experience.E006",
        )
    if not_sent:
        yield Info(
            "second factors by email or SMS are switched on, and no connector can send their codes: "
            f"{join_names(not_sent)}",
            hint="add a connector of that type, test and enable it, or remove the factor from mfa.factors",
            id="experience.I007",
        )


@doctor_check
def message_html() -> Iterator[CheckMessage]:
    """Report stored templates whose HTML today's rules refuse, because it could tell others the code."""
    refused = [
        f"{experience.tenant.slug} ({message_templates.describe(template)}: html {error['html'][0]})"
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        for template in experience.message_templates
        if (error := message_templates.find_error_of_html(template))
    ]
    if refused:
        yield Warning(
            "messages that are sent as they are stored could tell another server their code, so a change of "
            f"them is refused: {join_names(refused)}",
            hint="change the HTML as each reason says (Sign-in experience, Edit message), or start from the "
            "built-in text",
            id="experience.W008",
        )


def _needed(experience: SignInExperience) -> set[str]:
    """Return the kinds of identifier that users cannot use without a code."""
    needed = {
        method["identifier"]
        for method in experience.sign_in["methods"]
        if method["verification_code"] and not method["password"]
    }
    if experience.sign_up["verify"]:
        needed.update(experience.sign_up["identifiers"])
    return needed & _CHANNELS.keys()
