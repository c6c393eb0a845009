"""The refusal of changes that a stolen token of an administrator must not make.

``management.administrators.proof`` has the refusals of changes of administrators, which may also be proven by
a password in the request.
"""

from django.conf import settings

from identity.core.errors import ServiceError


class TokenTooOld(ServiceError):
    """The change needs a recent sign-in of the administrator."""

    status = 403
    reason = "proof_needed"
    message = f"sign in again: this needs a token that is at most {settings.ADMIN_PROOF_SECONDS} seconds old"
