"""What somebody typed to say who they are: kept as text only where it names somebody who is known.

People type passwords into the field for the username. The log keeps what it holds, so what
names nobody is kept as a keyed hash. The hash is the same for every spelling of an identifier.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(slots=True)
class Typed:
    """An identifier that was typed: its text, its kind, and its keyed hash in this tenant.

    ``name`` is what the entry calls it, ``is_known`` whether it names somebody.
    """

    text: str
    kind: str
    key: str
    name: str = "username"
    is_known: bool = False

    def facts(self) -> dict[str, str]:
        """Return what the entry says of it."""
        if self.is_known:
            return {self.name: self.text}
        return {self.name: f"hash:{self.key}", "identifier_type": self.kind}


def keys_of(identifier: str) -> list[str]:
    """Return the keyed hashes of an identifier in this tenant, one for each key of the installation."""
    find = import_string(settings.AUDIT_IDENTIFIER_KEYS)
    return cast("Callable[[str], list[str]]", find)(identifier)
