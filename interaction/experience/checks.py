"""What the doctor asks about ways to sign in that need messages."""

from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info

from identity.core.examination import examined, named
from interaction.connectors import delivery, messages
from interaction.connectors.models import Connector
from interaction.experience import breached_passwords
from interaction.experience.models import SignInExperience

_CHANNELS: Final = {"email": messages.EMAIL, "phone": messages.SMS}


@examined
def ways_in() -> Iterator[CheckMessage]:
    """Ask of each tenant whether the codes that its sign-in needs can be sent."""
    stuck: list[str] = []
    silent: list[str] = []
    by_tenant = delivery.channels_by_tenant()
    for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug"):
        channels = by_tenant[experience.tenant.pk]
        lacking = {kind for kind in _needed(experience) if _CHANNELS[kind] not in channels}
        if lacking:
            stuck.append(f"{experience.tenant.slug} ({' and '.join(sorted(lacking))})")
        elif not channels:
            silent.append(experience.tenant.slug)
    if stuck:
        yield Error(
            f"people need codes that nothing can send: {named(stuck)}",
            hint="add and enable a connector of that type (POST /api/v1/connectors) and try its test, or "
            "change "
            "the sign-in experience so that no code is needed",
            id="experience.E001",
        )
    if silent:
        yield Info(
            "no email or SMS connector is enabled, so nobody can replace a forgotten password: "
            f"{named(silent)}",
            hint="add a connector of type Email or Sms",
            id="experience.I002",
        )


@examined
def newcomers() -> Iterator[CheckMessage]:
    """Say where somebody new comes in by no door although another provider has a button."""
    with_buttons = set(
        Connector.objects.filter(type=Connector.Type.SOCIAL, enabled=True).values_list("tenant_id", flat=True)
    )
    shut = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if experience.tenant_id in with_buttons
        and experience.social_sign_in["create_users"]
        and not experience.takes_newcomers_of_providers
    ]
    if shut:
        yield Info(
            "registration is closed, so nobody new comes in by another provider either: " + named(shut),
            hint="to let them in all the same, set social_sign_in.create_users_while_registration_is_closed "
            "of the sign-in experience to true; if they shall stay out, set create_users to false",
            id="experience.I003",
        )


@examined
def text_messages() -> Iterator[CheckMessage]:
    """Say where text messages go to every country, which invites people who earn by them."""
    by_tenant = delivery.channels_by_tenant()
    everywhere = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if messages.SMS in by_tenant[experience.tenant.pk] and not experience.sms_countries
    ]
    if everywhere and not settings.DEVELOPMENT:
        yield Info(
            "text messages are sent to every country, also to those where others earn by each: "
            + named(everywhere),
            hint="list the countries where your users are in account.sms_countries of the sign-in experience",
            id="experience.I004",
        )


@examined
def breached() -> Iterator[CheckMessage]:
    """Ask whether the list of breached passwords can be read."""
    wanted = [
        experience.tenant.slug
        for experience in SignInExperience.objects.select_related("tenant").order_by("tenant__slug")
        if experience.password_policy.get("reject_breached")
    ]
    problem = "BREACHED_PASSWORDS is not set" if wanted else ""
    if breached_passwords.is_available():
        problem = ""
        try:
            breached_passwords.examine()
        except breached_passwords.BadList as error:
            problem = str(error)
    if problem:
        yield Error(
            f"breached passwords are not refused: {problem}"
            + (f". Tenants that want it: {named(wanted)}" if wanted else ""),
            hint="put the range files of Have I Been Pwned into a directory, or its sorted file of hashes, "
            "and name it in BREACHED_PASSWORDS (docs/configuration.md)",
            id="experience.E005",
        )


def _needed(experience: SignInExperience) -> set[str]:
    """Return the kinds of identifiers that are of no use without a code."""
    needed = {
        method["identifier"]
        for method in experience.sign_in["methods"]
        if method["verification_code"] and not method["password"]
    }
    if experience.sign_up["verify"]:
        needed.update(experience.sign_up["identifiers"])
    return needed & _CHANNELS.keys()
