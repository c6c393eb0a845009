"""Identifiers as typed at sign-in, which are stored as text only if they are a user's.

People sometimes type a password into the username field, and the log cannot be changed. So an unknown
identifier is stored as a keyed hash. All spellings of an identifier have the same hash.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(slots=True)
class TypedIdentifier:
    """A typed identifier: its text, its kind, and its keyed hash (``key``) in this tenant.

    ``name`` is the name of the fact in the entry. ``is_known`` says whether the identifier is a user's.
    """

    text: str
    kind: str
    key: str
    name: str = "username"
    is_known: bool = False

    def facts(self) -> dict[str, str]:
        """Return the facts for the entry."""
        if self.is_known:
            return {self.name: self.text}
        return {self.name: f"hash:{self.key}", "identifier_type": self.kind}


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose entries are looked for: ids of users and applications, and the keyed hashes of identifiers."""

    user_ids: tuple[str, ...] = ()
    application_ids: tuple[str, ...] = ()
    identifier_keys: tuple[str, ...] = ()


def find_subject(text: str, tenant_id: str) -> Subject:
    """Return the user with this id or identifier in a tenant, or else only the identifier that was typed."""
    find = import_string(settings.AUDIT_SUBJECT)
    return cast("Callable[[str, str], Subject]", find)(text, tenant_id)


def find_keys(identifier: str, tenant_id: str) -> list[str]:
    """Return the keyed hashes of an identifier in a tenant, one for each encryption key."""
    find = import_string(settings.AUDIT_IDENTIFIER_KEYS)
    return cast("Callable[[str, str], list[str]]", find)(identifier, tenant_id)
