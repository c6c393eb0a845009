"""Sending notices to users; named by ``settings.NOTIFIER``."""

from collections.abc import Mapping
from datetime import UTC

from django.utils import formats, timezone, translation

from audit import context
from identity.core import tenancy
from identity.http import browser_names
from identity.http.languages import find_supported
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice
from interaction.connectors import delivery
from interaction.connectors.messages import EMAIL, SMS, Message
from interaction.experience import services as experiences
from interaction.experience import sms_countries
from interaction.experience.models import SignInExperience
from interaction.journeys import languages, message_branding, remaining_ways
from interaction.verification import notice_texts, outgoing


def send(user: User, notice: Notice, addresses: Mapping[Kind, str], words: Mapping[str, str]) -> None:
    """Enqueue a notice to the user's email, or to the phone if email cannot be used.

    Do nothing if neither can be used.
    """
    if Kind.EMAIL in addresses and delivery.can_deliver(EMAIL):
        _enqueue(user, notice, EMAIL, addresses[Kind.EMAIL], words)
    elif _is_phone_allowed(addresses) and delivery.can_deliver_text(SMS):
        _enqueue(user, notice, SMS, addresses[Kind.PHONE], words)


def _is_phone_allowed(addresses: Mapping[Kind, str]) -> bool:
    return Kind.PHONE in addresses and sms_countries.is_allowed(
        addresses[Kind.PHONE], experiences.current().sms_countries
    )


def build_sample(*, notice: Notice, channel: str, experience: SignInExperience) -> Message:
    """Return the message of ``send`` for an experience that need not be saved."""
    return notice_texts.new_notice_message(
        notice=notice,
        channel=channel,
        to="",
        words={
            "provider": "Example",
            "left": "8",
            "time": "1 Jan 2030, 12:00 UTC",
            "browser": browser_names.translate("Firefox on Windows"),
            "address": "192.0.2.1",
        },
        brand=message_branding.get_brand(experience),
        template=message_branding.find_template(experience, notice, channel),
    )


def _enqueue(user: User, notice: Notice, channel: str, to: str, words: Mapping[str, str]) -> None:
    experience = experiences.current()
    with translation.override(_get_language(user)):
        outgoing.enqueue(
            notice_texts.new_notice_message(
                notice=notice,
                channel=channel,
                to=to,
                words=_get_origin(notice) | _get_remaining(user, notice, to) | dict(words),
                brand=message_branding.get_brand(experience),
                template=message_branding.find_template(experience, notice, channel),
            )
        )


def _get_remaining(user: User, notice: Notice, to: str) -> dict[str, str]:
    """Return what can still sign in after a new password, and where the user removes it.

    Former addresses of the user are not told, because they may have belonged to a thief.
    """
    if notice is not Notice.PASSWORD_CHANGED or to not in user.get_proven_addresses().values():
        return {}
    remaining = remaining_ways.describe(user)
    return {"remaining": remaining, "account": f"{tenancy.active().issuer}/account"} if remaining else {}


def _get_origin(notice: Notice) -> dict[str, str]:
    """Return when and where the user's account was changed or used, in the active language.

    Browser and address are left out after an act of an administrator, of an application, or of the person
    who proved to own the user's address.
    """
    now = timezone.now().astimezone(UTC)
    words = {"time": f"{formats.date_format(now, 'j M Y, H:i')} UTC"}
    origin = context.current()
    is_other = origin.administrator_id is not None or bool(origin.application_id)
    if is_other or notice is Notice.IDENTIFIER_REMOVED or not origin.ip:
        return words
    return words | {"browser": browser_names.describe(origin.user_agent), "address": origin.ip}


def _get_language(user: User) -> str | None:
    """Return the language of a user: of the profile or, as before 0.6.0, of ``custom_data``."""
    former = user.custom_data.get("locale")
    return (
        languages.find_own(user)
        or (find_supported(former) if isinstance(former, str) else None)
        or translation.get_language()
    )
