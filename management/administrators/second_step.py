"""The second step of signing in as an administrator: a code of an authenticator, or one written down.

Whoever has set it up needs it everywhere that a password of an administrator is taken. A
password alone then opens nothing.
"""

import base64
import secrets
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.encryption import keyring
from identity.limits import rules
from identity.limits import services as limits
from management.administrators import totp
from management.administrators.models import Administrator, RecoveryCode

PURPOSE: Final = "administrators' second step"
_CODES_PURPOSE: Final = "administrators' recovery codes"
_CODES: Final = 10
_CODE_BYTES: Final = 10


class WrongCode(ServiceError):
    """It is no code of this moment, or was used already: never told which."""

    status = 401
    reason = "invalid_second_step"
    message = "the code is wrong, or was used before"


class CodeLocked(WrongCode):
    """Too many codes were wrong before. Told in the same words, whatever the code was."""

    reason = "second_step_locked"

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})


class CodeNeeded(ServiceError):
    """The password was right, and is not enough."""

    status = 401
    reason = "second_step_needed"
    message = "send the code of your authenticator, too, as code"


class SetUpNeeded(ServiceError):
    """The installation asks for a second step, and this administrator has none."""

    status = 403
    reason = "second_step_not_set_up"
    message = "this installation asks for a second step: sign in to the operators' site once to set it up"


class NotOneself(ServiceError):
    """Who removes the own second step has to prove it."""

    reason = "not_oneself"
    message = "remove your own second step on the page for it: password and code are asked there"


def is_missing(administrator: Administrator) -> bool:
    """Tell whether the installation asks for a second step that this administrator has not set up."""
    return settings.ADMIN_TWO_STEP == "required" and administrator.second_step_since is None


def binding(administrator: Administrator) -> str:
    """Return what the sealed secret of an administrator is bound to."""
    return f"administrator/{administrator.pk}"


def seal(administrator: Administrator, secret: bytes) -> str:
    """Seal a secret that only this administrator's row, or session, opens."""
    return keyring.seal(secret, purpose=PURPOSE, bound_to=binding(administrator))


def unseal(administrator: Administrator, sealed: str) -> bytes:
    """Open what ``seal`` made.

    Raises:
        keyring.UnknownKey: it was sealed for somebody else, or the key is gone.

    """
    return keyring.unseal(sealed, purpose=PURPOSE, bound_to=binding(administrator))


def prove(administrator: Administrator, code: str) -> str:
    """Take a code and say of which kind it was. Each counts once.

    Raises:
        WrongCode: it is wrong, or was used before.
        CodeLocked: too many were wrong lately, wherever they came from.

    """
    typed = "".join(code.split()).replace("-", "")
    with tenancy.using(tenancy.DEFAULT):
        lock = (rules.SECOND_STEP, str(administrator.pk))
        with limits.login_attempt(lock, failure=WrongCode, locked=CodeLocked):
            if _is_of_authenticator(administrator, typed):
                return "totp"
            _use_recovery_code(administrator, typed.upper())
            return "recovery_code"


def _is_of_authenticator(administrator: Administrator, code: str) -> bool:
    if len(code) != totp.DIGITS or not administrator.sealed_totp_secret:
        return False
    try:
        secret = unseal(administrator, administrator.sealed_totp_secret)
    except keyring.UnknownKey:
        return False  # the doctor says so
    step = totp.step_of(secret, code, after=administrator.totp_step)
    # Of two that send one code at once, one is first.
    rows = Administrator.objects.filter(pk=administrator.pk, totp_step__lt=step or 0)
    return step is not None and bool(rows.update(totp_step=step))


@transaction.atomic
def _use_recovery_code(administrator: Administrator, code: str) -> None:
    for stored in administrator.recovery_codes.all():
        if keyring.matches(code, stored.digest, purpose=_CODES_PURPOSE):
            # Of two that send one code at once, one deletes it.
            deleted, _ = RecoveryCode.objects.filter(pk=stored.pk).delete()
            if deleted:
                log.record(Event.RECOVERY_CODE_USE, id=administrator.pk, username=administrator.username)
                return
    raise WrongCode


def set_up(administrator: Administrator, *, secret: bytes, code: str) -> list[str]:
    """Ask for a second step from now on, and return the recovery codes: they are shown this once.

    Other sessions and tokens of the administrator end.

    Raises:
        WrongCode: the authenticator does not have the secret, or its clock is off.

    """
    step = totp.step_of(secret, "".join(code.split()), after=0)
    if step is None:
        raise WrongCode
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        _save(administrator, timezone.now(), seal(administrator, secret), step)
        log.record(Event.SECOND_STEP_CREATE, id=administrator.pk, username=administrator.username)
        return _new_codes(administrator)


def renew_codes(administrator: Administrator) -> list[str]:
    """Put new recovery codes in place of those before, and return them: they are shown this once."""
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        log.record(Event.RECOVERY_CODES_CREATE, id=administrator.pk, username=administrator.username)
        return _new_codes(administrator)


def remove(administrator: Administrator) -> None:
    """Ask for the password alone from now on. Sessions and tokens of the administrator end."""
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        _save(administrator, None, "", 0)
        administrator.recovery_codes.all().delete()
        log.record(Event.SECOND_STEP_DELETE, id=administrator.pk, username=administrator.username)


def reset(administrator: Administrator, *, by: Administrator) -> None:
    """Remove the second step of somebody else, who has lost it.

    Raises:
        NotOneself: it is one's own.

    """
    if administrator.pk == by.pk:
        raise NotOneself
    remove(administrator)


def _save(administrator: Administrator, since: Any, sealed: str, step: int) -> None:
    administrator.second_step_since, administrator.sealed_totp_secret = since, sealed
    administrator.totp_step = step
    administrator.save(update_fields=["second_step_since", "sealed_totp_secret", "totp_step"])


def _new_codes(administrator: Administrator) -> list[str]:
    administrator.recovery_codes.all().delete()
    codes = [base64.b32encode(secrets.token_bytes(_CODE_BYTES)).decode() for _ in range(_CODES)]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(administrator=administrator, digest=keyring.digest(code, purpose=_CODES_PURPOSE))
        for code in codes
    )
    return ["-".join(code[start : start + 4] for start in range(0, len(code), 4)) for code in codes]
