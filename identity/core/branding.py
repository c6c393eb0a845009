"""The branding of an application or an organization.

The sign-in experience, an app above, knows the members of a branding and stores its pictures.
``settings.BRANDING`` names the module.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from identity.core import records


def describe(branding: Mapping[str, str]) -> dict[str, str]:
    """Return all members of a stored branding, with the full addresses of its pictures."""
    described: dict[str, str] = import_string(f"{settings.BRANDING}.describe")(branding)
    return described


def store(row: Any, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the branding of a row after a change of the members that were sent, and store its pictures.

    The caller has opened a transaction, and saves the branding in it. The row is new, or locked.
    """
    stored: dict[str, str] = import_string(f"{settings.BRANDING}.store")(row, sent)
    return stored


def change(row: Any, fields: Mapping[str, Any], expected: frozenset[int] | None) -> dict[str, Any]:
    """Return the fields of a change with the whole branding instead of the sent members.

    The caller has opened a transaction. The row is locked, so that concurrent changes are not lost.

    Raises:
        records.Stale: the row now has another version.
        records.Gone: the row was deleted.

    """
    if "branding" not in fields:
        return dict(fields)
    records.lock(row, expected)
    row.branding = type(row)._default_manager.values_list("branding", flat=True).get(pk=row.pk)
    return {**fields, "branding": store(row, fields["branding"])}
