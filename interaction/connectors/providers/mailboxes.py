"""The sender of an email, as the APIs of mail providers expect it."""

from email.utils import formataddr, quote

from interaction.connectors.messages import Message


def format_unicode(name: str, address: str) -> str:
    """Return a name and an address for an API that accepts Unicode."""
    return f'"{quote(name)}" <{address}>' if name else address


def format_encoded(name: str, address: str) -> str:
    """Return a name and an address for an API that accepts only ASCII (RFC 2047)."""
    return formataddr((name, address))


def message_id(message: Message, sender: str) -> str:
    """Return a Message-ID at the sender's domain.

    The id is the same for every attempt, because most mail programs show only one of two mails with one id.
    """
    return f"<{message.id}@{sender.rpartition('@')[2]}>"
