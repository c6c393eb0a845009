"""Re-authentication of an administrator, for operations that a stolen token must not allow."""

from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop, ngettext_lazy

from identity.core.errors import ServiceError
from identity.core.refusal_texts import fill
from management.administrators import second_step, sign_in
from management.administrators.models import Administrator

_PROOF_NEEDED: Final = ngettext_lazy(
    "send your own password, and the code of your authenticator as current_code if you have one, or use a "
    "token that is at most %(minutes)s minute old",
    "send your own password, and the code of your authenticator as current_code if you have one, or use a "
    "token that is at most %(minutes)s minutes old",
    "minutes",
)


class ProofNeeded(ServiceError):
    """The operation needs the own password or a recent sign-in."""

    status = 403
    reason = "proof_needed"

    def __init__(self) -> None:
        self.field = "current_password"
        self.rule = fill(_PROOF_NEEDED, minutes=settings.ADMIN_PROOF_SECONDS // 60)
        super().__init__(f"{self.field}: {self.rule}")


class SignInTooOld(ServiceError):
    """The operation needs a recent sign-in."""

    status = 403
    reason = "proof_needed"
    message = gettext_noop("the token is too old to delete an administrator: sign in again")


class NotProven(ServiceError):
    """The administrator's own password or code is wrong."""

    status = 403
    reason = "not_proven"

    def __init__(self, field: str, headers: dict[str, str]) -> None:
        self.field = field
        self.rule = gettext_noop("is wrong, or there were too many wrong attempts")
        super().__init__(f"{field}: {self.rule}", headers=headers)


def check(by: Administrator, *, password: str = "", code: str = "") -> None:
    """Verify the administrator's own password and second step. A recent sign-in replaces both.

    Raises:
        ProofNeeded: no password was sent, and the sign-in is not recent.
        NotProven: the password or the code is wrong.
        passwords.Busy: too many sign-ins at once.

    """
    if not password:
        if not by.has_signed_in_recently:
            raise ProofNeeded
        return
    try:
        sign_in.reauthenticate(by, password=password, code=code if by.second_step_since else None)
    except second_step.WrongCode as refusal:
        raise NotProven("current_code", refusal.headers) from None
    except sign_in.WrongCredentials as refusal:
        raise NotProven("current_password", refusal.headers) from None


def check_recent(by: Administrator) -> None:
    """Check that the administrator signed in recently, for requests that cannot carry a password.

    Raises:
        SignInTooOld: the sign-in is not recent.

    """
    if not by.has_signed_in_recently:
        raise SignInTooOld
