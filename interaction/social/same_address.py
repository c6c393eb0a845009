"""When two email addresses are the same mailbox, so that one may stand for the other.

Looking a person up folds more than this (NFKC, all letters): a person who types finds their
account. Linking is stricter: ``ß`` and ``ss`` are domains of different owners in IDNA 2008.
"""

import string
from contextlib import suppress
from typing import Final

import idna

from identity.users import identifiers
from interaction.connectors import email_domains

_ASCII_LOWER: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def is_same_address(one: str, other: str) -> bool:
    """Tell whether two addresses are equal: local parts but for ASCII case, domains after IDNA 2008."""
    first, second = _compared(one), _compared(other)
    return first is not None and first == second


def lookup_keys(address: str) -> set[str]:
    """Return the keys of all users who may have this address, its domain in either form."""
    local, _, domain = address.rpartition("@")
    spellings = {domain, email_domains.encode(domain) or domain}
    with suppress(idna.IDNAError):  # a domain that is no IDNA domain has one form
        spellings.add(idna.decode(domain))
    return {identifiers.fold(f"{local}@{spelling}") for spelling in spellings}


def _compared(address: str) -> tuple[str, str] | None:
    local, _, domain = address.translate(_ASCII_LOWER).rpartition("@")
    encoded = email_domains.encode(domain)
    return None if encoded is None else (local, encoded)
