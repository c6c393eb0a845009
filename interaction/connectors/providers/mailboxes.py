"""The sender and the recipient of an email, as mail servers and the APIs of mail providers expect them."""

from email.utils import formataddr, quote

from django.utils.translation import gettext_noop

from identity.users import email_domains
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message


def delivery_address(address: str) -> str:
    """Return an email address with its domain in DNS form (IDNA 2008).

    Raises:
        ProviderError: the domain is not valid.

    """
    encoded = email_domains.encode_address(address)
    if encoded is None:
        raise ProviderError(
            gettext_noop("the recipient's domain is not a valid internationalized domain name (IDNA 2008)")
        )
    return encoded


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
