"""Proof that the administrator who is signed in is the one who acts: for what a stolen token must not do."""

import time

from django.conf import settings

from identity.core.errors import ServiceError
from management.administrators import second_step, signing_in
from management.administrators.models import Administrator


class ProofNeeded(ServiceError):
    """The sign-in is too long ago for this."""

    status = 403
    reason = "proof_needed"

    def __init__(self) -> None:
        self.field = "current_password"
        self.rule = (
            "send your own password (and current_code, the code of your authenticator, where you have one), "
            f"or take a token that is not older than {settings.ADMIN_PROOF_SECONDS // 60} minutes"
        )
        super().__init__(f"{self.field}: {self.rule}")


class NotProven(ServiceError):
    """The administrator's own password or code is wrong."""

    status = 403
    reason = "not_proven"

    def __init__(self, field: str, headers: dict[str, str]) -> None:
        self.field = field
        self.rule = "is wrong, or too many were wrong before"
        super().__init__(f"{field}: {self.rule}", headers=headers)


def check(by: Administrator, *, password: str = "", code: str = "") -> None:
    """Go on if an administrator sends the own password and second step, or has just signed in.

    Raises:
        ProofNeeded: nothing was sent, and the token is not of a recent sign-in.
        NotProven: password or code is wrong.
        passwords.Busy: too many sign-ins at this moment.

    """
    if not password:
        if time.time() - by.signed_in_at > settings.ADMIN_PROOF_SECONDS:
            raise ProofNeeded
        return
    try:
        signing_in.prove_again(by, password=password, code=code if by.second_step_since else None)
    except second_step.WrongCode as refusal:
        raise NotProven("current_code", refusal.headers) from None
    except signing_in.WrongCredentials as refusal:
        raise NotProven("current_password", refusal.headers) from None
