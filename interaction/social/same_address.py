"""Comparison of email addresses: whether two of them are the same mailbox.

The comparison is stricter than the lookup of users, which folds by NFKC and case. Here ``ß`` and ``ss``
differ, because in IDNA 2008 two such domains can have different owners.
"""

import string
from contextlib import suppress
from typing import Final

import idna

from identity.users import email_domains, identifiers

_ASCII_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def is_same_address(first: str, second: str) -> bool:
    """Return whether two addresses are equal: local parts up to ASCII case, domains by IDNA 2008."""
    normalized = _normalize(first)
    return normalized is not None and normalized == _normalize(second)


def lookup_keys(address: str) -> set[str]:
    """Return the lookup keys of an address, with its domain as text and in DNS form."""
    local, _, domain = address.rpartition("@")
    spellings = {domain, email_domains.encode(domain) or domain}
    with suppress(idna.IDNAError):  # other domains have only one form
        spellings.add(idna.decode(domain))
    return {identifiers.fold(f"{local}@{spelling}") for spelling in spellings}


def _normalize(address: str) -> tuple[str, str] | None:
    local, _, domain = address.translate(_ASCII_LOWER).rpartition("@")
    encoded = email_domains.encode(domain)
    return None if encoded is None else (local, encoded)
