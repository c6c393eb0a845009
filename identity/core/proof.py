"""The refusal of changes that a stolen token of an administrator must not make.

``management.administrators.proof`` has the refusals of changes of administrators, which may also be proven by
a password in the request.
"""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from identity.core.errors import ServiceError


class TokenTooOld(ServiceError):
    """The change needs a recent sign-in of the administrator."""

    status = 403
    reason = "proof_needed"
    message = f"sign in again: this needs a token that is at most {settings.ADMIN_PROOF_SECONDS} seconds old"


def check_requirement(row: object, name: str, fields: Mapping[str, Any], *, is_proven: bool) -> None:
    """Check that a caller may change what a row requires of sign-ins. A first requirement needs no proof.

    ``name`` is the field of the requirement, and ``fields`` are the changes of the row. ``is_proven`` is
    whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the requirement would be replaced or removed, and ``is_proven`` is false.

    """
    required = getattr(row, name)
    if not is_proven and required and fields.get(name, required) != required:
        raise TokenTooOld
