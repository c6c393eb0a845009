"""Refusals of second factors. Callers of the newer routes get the reason as ``result``."""

from identity.core.errors import ServiceError
from identity.limits import services as limits


class FactorError(ServiceError):
    """A refusal whose answer names its reason for programs."""

    def __init__(self, message: str | None = None, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message, headers=headers)
        self.result = {"reason": self.reason}


class WrongFactor(FactorError):
    """The code is wrong, was used before or has expired. The message does not say which."""

    status = 401
    reason = "second_factor_wrong"
    message = "the code is wrong, was used before or has expired"


class FactorLocked(WrongFactor):
    """There were too many wrong codes. The message is the same as for a wrong code."""

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})
        self.audit_facts = limits.get_lock_facts(seconds)


class FactorNotAllowed(FactorError):
    """The tenant does not use this kind of factor; other causes have messages of their own."""

    status = 403
    reason = "factor_not_allowed"
    message = "this factor is switched off for this tenant"


class AlreadyEnrolled(FactorError):
    """The authenticator or passkey is registered already."""

    reason = "already_enrolled"
    message = "this authenticator or passkey is set up already"


class TooManyFactors(FactorError):
    """The user has as many factors of this kind as are allowed."""

    reason = "too_many_factors"

    def __init__(self, most: int) -> None:
        super().__init__(f"at most {most} factors of this kind are allowed: remove one first")


class EnrolmentExpired(FactorError):
    """The set-up was begun too long ago, or by another person or in another browser."""

    reason = "enrolment_expired"
    message = "the set-up has expired: start again"
