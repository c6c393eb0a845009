"""The refusal of changes that a stolen token of an administrator must not make.

``management.administrators.proof`` has the refusals of changes of administrators, which may also be proven by
a password in the request.

Functions with such a change take ``is_proven``: whether the administrator who makes the change has signed in
recently. It has no default, so that no caller omits it. A caller without an administrator passes
``NO_ADMINISTRATOR``.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings

from identity.core import records
from identity.core.errors import ServiceError
from identity.core.models import Versioned

# A user makes the change, or a command on the server: no stolen token of an administrator can make it.
NO_ADMINISTRATOR: Final = True


class TokenTooOld(ServiceError):
    """The change needs a recent sign-in of the administrator."""

    status = 403
    reason = "proof_needed"
    message = f"sign in again: this needs a token that is at most {settings.ADMIN_PROOF_SECONDS} seconds old"


def check_required_of_sign_ins(
    row: Versioned, name: str, fields: Mapping[str, Any], expected: frozenset[int] | None, *, is_proven: bool
) -> None:
    """Check that a caller may replace or remove what a row requires of sign-ins.

    Setting a first requirement needs no proof. ``name`` is the field of the requirement, and ``fields`` are
    the changes of the row. ``is_proven`` is whether the administrator who makes the change has signed in
    recently. The caller has opened a transaction. The row is locked, so that nobody sets a requirement
    between the check and the change.

    Raises:
        TokenTooOld: the requirement would be replaced or removed, and ``is_proven`` is false.
        records.Stale: the row now has another version.
        records.Gone: the row was deleted.

    """
    if is_proven or name not in fields:
        return
    records.lock(row, expected)
    required = type(row)._default_manager.values_list(name, flat=True).get(pk=row.pk)
    if required and fields[name] != required:
        raise TokenTooOld
