"""Domains of email addresses in their DNS form (IDNA 2008).

Python and Django encode by IDNA 2003, which sends mail for ``straße.example`` to
``strasse.example``. In IDNA 2008 these domains can have different owners.
"""

import unicodedata

import idna


def encode(domain: str) -> str | None:
    """Return the DNS form of a domain; None if it is not valid in IDNA 2008."""
    if domain.isascii() and "xn--" not in domain.lower():
        return domain  # a DNS name already, or an IP address in brackets
    try:
        return idna.encode(domain).decode().lower()
    except idna.IDNAError:
        return None


def encode_address(address: str) -> str | None:
    """Return an email address with its domain in DNS form; None if the domain is not valid in IDNA 2008."""
    local, _, domain = address.rpartition("@")
    if domain.isascii():
        return address
    # IDNA 2008 has no upper-case letters. ``casefold`` would turn ß into ss, which is another domain.
    encoded = encode(unicodedata.normalize("NFC", domain.lower()))
    return None if encoded is None else f"{local}@{encoded}"
