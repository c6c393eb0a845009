"""Sending notices to people: what ``settings.NOTIFIER`` names."""

from collections.abc import Mapping

from django.utils import translation

from identity.http.languages import best_of
from identity.limits import rules
from identity.limits import services as limits
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice
from interaction.connectors import delivery
from interaction.connectors.messages import EMAIL, SMS, Message
from interaction.experience import services as experience
from interaction.experience import sms_countries
from interaction.experience.models import SignInExperience
from interaction.journeys import message_look
from interaction.verification import notice_texts, outgoing


def send(user: User, notice: Notice, addresses: Mapping[Kind, str], words: Mapping[str, str]) -> None:
    """Write a notice down for the first address that a message can be delivered to; else do nothing."""
    if Kind.EMAIL in addresses and delivery.can_deliver(EMAIL):
        _post(user, notice, EMAIL, addresses[Kind.EMAIL], words)
    elif _takes_text(addresses) and delivery.can_deliver_text(SMS):
        try:
            limits.hit((rules.TEXT_MESSAGES, ""))
        except limits.TooMany:
            return  # codes need what is left of the tenant's text messages
        _post(user, notice, SMS, addresses[Kind.PHONE], words)


def _takes_text(addresses: Mapping[Kind, str]) -> bool:
    return Kind.PHONE in addresses and sms_countries.is_allowed(
        addresses[Kind.PHONE], experience.current().sms_countries
    )


def sample(*, notice: Notice, channel: str, shown: SignInExperience) -> Message:
    """Return what ``send`` would say with an experience, which need not be saved."""
    return notice_texts.new_notice_message(
        notice=notice,
        channel=channel,
        to="",
        words={"provider": "Example"},
        brand=message_look.brand(shown),
        wording=message_look.wording(shown, notice, channel),
    )


def _post(user: User, notice: Notice, channel: str, to: str, words: Mapping[str, str]) -> None:
    shown = experience.current()
    with translation.override(_language(user)):
        outgoing.enqueue(
            notice_texts.new_notice_message(
                notice=notice,
                channel=channel,
                to=to,
                words=words,
                brand=message_look.brand(shown),
                wording=message_look.wording(shown, notice, channel),
            )
        )


def _language(user: User) -> str | None:
    """Return the language of a person, as far as it is known, else the one that is active."""
    locale = user.custom_data.get("locale")
    known = best_of(locale) if isinstance(locale, str) else None
    return known or translation.get_language()
