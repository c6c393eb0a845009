"""Identifiers as typed at sign-in: stored as text only if they are a user's.

People type passwords into the username field, and the log cannot be changed. So an unknown identifier is
stored as a keyed hash, which is the same for every spelling of the identifier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(slots=True)
class Typed:
    """A typed identifier: its text, its kind, and its keyed hash in this tenant.

    ``name`` is its name in the entry, ``is_known`` whether it is a user's.
    """

    text: str
    kind: str
    key: str
    name: str = "username"
    is_known: bool = False

    def facts(self) -> dict[str, str]:
        """Return the facts of the entry."""
        if self.is_known:
            return {self.name: self.text}
        return {self.name: f"hash:{self.key}", "identifier_type": self.kind}


def keys_of(identifier: str) -> list[str]:
    """Return the keyed hashes of an identifier in this tenant, one for each key of the installation."""
    find = import_string(settings.AUDIT_IDENTIFIER_KEYS)
    return cast("Callable[[str], list[str]]", find)(identifier)
