"""Domains of email addresses as they are in the DNS, by IDNA 2008.

Python's and Django's own encoding is IDNA 2003, which sends mail for ``straße.example`` to
``strasse.example``: these are domains of different owners now.
"""

import unicodedata

import idna

from interaction.connectors.errors import ProviderError


def encoded(domain: str) -> str | None:
    """Return a domain as it is in the DNS; nothing for one that cannot be there."""
    if domain.isascii() and "xn--" not in domain.lower():
        return domain  # also what is no domain name, such as an address in brackets
    try:
        return idna.encode(domain).decode().lower()
    except idna.IDNAError:
        return None


def for_delivery(address: str) -> str:
    """Return an email address with the domain that its mail has to go to.

    Raises:
        ProviderError: IDNA 2008 has no such domain.

    """
    local, _, domain = address.rpartition("@")
    if domain.isascii():
        return address
    # Letters in upper case are no part of IDNA 2008; ``casefold`` would make another domain of ß.
    found = encoded(unicodedata.normalize("NFC", domain.lower()))
    if found is None:
        raise ProviderError("the recipient's domain cannot be written in the DNS (IDNA 2008)")
    return f"{local}@{found}"
