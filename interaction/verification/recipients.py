"""Emails and phones as recipients of messages: channel, lookup key and address."""

from identity.core.errors import Invalid
from identity.users import identifiers
from identity.users.identifiers import Kind
from interaction.connectors.messages import EMAIL, SMS


def channel_of(kind: Kind) -> str:
    """Return the channel for messages to an identifier of this kind."""
    return EMAIL if kind is Kind.EMAIL else SMS


def key_of(kind: Kind, identifier: str) -> str:
    """Return the lookup key of an email or phone, valid or not."""
    return identifiers.parse_phone(identifier) if kind is Kind.PHONE else identifiers.fold(identifier.strip())


def limit_key_of(kind: Kind, key: str) -> str:
    """Return the key under which limits count an email or phone. ``key`` is its lookup key.

    ``00…`` and ``+…`` are two phones, which two users can have, but messages to them usually arrive at one.
    Locks keep the lookup key: the sign-in of one user must not clear the failures of the other.
    """
    return key.removeprefix("00") if kind is Kind.PHONE else key


def address_of(kind: Kind, identifier: str) -> str:
    """Return the address for messages to an email or phone, validated.

    Raises:
        Invalid: the identifier is not valid for this kind.

    """
    try:
        return (
            identifiers.clean_phone(identifier)
            if kind is Kind.PHONE
            else identifiers.clean_email(identifier.strip())
        )
    except Invalid as error:
        raise Invalid("identifier", error.rule) from None
