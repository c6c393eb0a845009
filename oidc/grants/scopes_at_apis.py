"""Scopes of APIs in one organization, as words among the scopes of the organization's consent.

A word is the id of the consent's target for the API, a space, and the name of a scope. The word without a
name stands for the API itself. Names of permissions have no space. If the user revokes the consent to the
API, its target is deleted, and no later one has its id: the words then mean nothing.
"""

from collections.abc import Iterable
from typing import Final
from uuid import UUID

_SEPARATOR: Final = " "


def to_words(api_target_id: UUID, names: Iterable[str]) -> tuple[str, ...]:
    """Return the words for an API and the names of its scopes."""
    return tuple(f"{api_target_id}{_SEPARATOR}{name}" for name in ("", *names))


def find_names(words: Iterable[str], api_target_id: UUID | None) -> frozenset[str] | None:
    """Return the names of the scopes at an API, or None if the words do not include the API."""
    prefix = f"{api_target_id}{_SEPARATOR}"
    found = {word.removeprefix(prefix) for word in words if word.startswith(prefix)}
    return frozenset(found - {""}) if found else None


def get_permissions(words: Iterable[str]) -> list[str]:
    """Return the names that are permissions in the organization itself."""
    return sorted(word for word in words if _SEPARATOR not in word)
