"""Domains of email addresses in their DNS form (IDNA 2008).

Python and Django encode by IDNA 2003, which sends mail for ``straße.example`` to
``strasse.example``. In IDNA 2008 these domains can have different owners.
"""

import unicodedata

import idna
from django.utils.translation import gettext_noop

from interaction.connectors.errors import ProviderError


def encode(domain: str) -> str | None:
    """Return the DNS form of a domain; None if it is not valid in IDNA 2008."""
    if domain.isascii() and "xn--" not in domain.lower():
        return domain  # a DNS name already, or an IP address in brackets
    try:
        return idna.encode(domain).decode().lower()
    except idna.IDNAError:
        return None


def delivery_address(address: str) -> str:
    """Return an email address with its domain in DNS form.

    Raises:
        ProviderError: the domain is not valid in IDNA 2008.

    """
    local, _, domain = address.rpartition("@")
    if domain.isascii():
        return address
    # IDNA 2008 has no upper-case letters. ``casefold`` would turn ß into ss, which is another domain.
    encoded = encode(unicodedata.normalize("NFC", domain.lower()))
    if encoded is None:
        raise ProviderError(
            gettext_noop("the recipient's domain is not a valid internationalized domain name (IDNA 2008)")
        )
    return f"{local}@{encoded}"
