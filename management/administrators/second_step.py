"""The second step of an administrator's sign-in: a code of an authenticator, or a recovery code.

An administrator who has set it up needs it wherever the password is asked for.
"""

import time
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.encryption import keyring
from identity.factors import printed_codes, totp
from identity.limits import rules
from identity.limits import services as limits
from management.administrators import rights, session_check
from management.administrators.models import Administrator, RecoveryCode

PURPOSE: Final = "administrators' second step"
_CODES_PURPOSE: Final = "administrators' recovery codes"
_CODES: Final = 10


class WrongCode(ServiceError):
    """The code is not valid now, or was used before; the message does not say which."""

    status = 401
    reason = "invalid_second_step"
    message = gettext_noop("the code is wrong, or was used before")


class CodeLocked(WrongCode):
    """There were too many wrong codes. The message is the same as for a wrong code."""

    reason = "second_step_locked"

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})


class CodeNeeded(ServiceError):
    """The password is right, but a code is needed too."""

    status = 401
    reason = "second_step_needed"
    message = gettext_noop("a code is required: send the code of your authenticator as code")


class SetUpNeeded(ServiceError):
    """The installation requires a second step, and this administrator has none."""

    status = 403
    reason = "second_step_not_set_up"
    message = gettext_noop("this installation requires a second step: sign in at /admin/ to set it up")


class NotOneself(ServiceError):
    """An administrator's own second step is removed only with password and code."""

    reason = "not_oneself"
    message = gettext_noop(
        "remove your own second step on the page Two-step sign-in, with your password and a code"
    )


def is_missing(administrator: Administrator) -> bool:
    """Return whether the installation requires a second step that this administrator has not set up."""
    return settings.ADMIN_TWO_STEP == "required" and administrator.second_step_since is None


def binding(administrator: Administrator) -> str:
    """Return what the encrypted secret of an administrator is bound to."""
    return f"administrator/{administrator.pk}"


def encrypt_secret(administrator: Administrator, secret: bytes) -> str:
    """Encrypt a secret, bound to this administrator."""
    return keyring.encrypt(secret, purpose=PURPOSE, bound_to=binding(administrator))


def decrypt_secret(administrator: Administrator, sealed: str) -> bytes:
    """Decrypt what ``encrypt_secret`` encrypted.

    Raises:
        keyring.UnknownKey: the secret was encrypted for another administrator, or the key is missing.

    """
    return keyring.decrypt(sealed, purpose=PURPOSE, bound_to=binding(administrator))


def verify(administrator: Administrator, code: str) -> str:
    """Use a code and return its kind. Each code can be used once.

    Raises:
        WrongCode: the code is wrong or was used before.
        CodeLocked: there were too many wrong codes recently, from all addresses together.

    """
    typed = printed_codes.normalize(code)
    with tenancy.using(tenancy.DEFAULT):
        lock = (rules.SECOND_STEP, str(administrator.pk))
        with limits.login_attempt(lock, failure=WrongCode, locked=CodeLocked):
            if _use_authenticator_code(administrator, typed):
                return "totp"
            _use_recovery_code(administrator, typed.upper())
            return "recovery_code"


def _use_authenticator_code(administrator: Administrator, code: str) -> bool:
    if len(code) != totp.DIGITS or not administrator.sealed_totp_secret:
        return False
    try:
        secret = decrypt_secret(administrator, administrator.sealed_totp_secret)
    except keyring.UnknownKey:
        return False  # the doctor reports it
    step = totp.find_step(secret, code, after=administrator.totp_step, now=time.time())
    if step is None:
        return False
    # The filter lets only one of two concurrent requests use the code.
    rows = Administrator.objects.filter(pk=administrator.pk, totp_step__lt=step)
    return bool(rows.update(totp_step=step))


@transaction.atomic
def _use_recovery_code(administrator: Administrator, code: str) -> None:
    for stored in administrator.recovery_codes.all():
        if keyring.matches(code, stored.digest, purpose=_CODES_PURPOSE):
            # Only one of two concurrent requests deletes the row.
            deleted, _ = RecoveryCode.objects.filter(pk=stored.pk).delete()
            if deleted:
                log.record(Event.RECOVERY_CODE_USE, id=administrator.pk, username=administrator.username)
                return
    raise WrongCode


def set_up(administrator: Administrator, *, secret: bytes, code: str) -> list[str]:
    """Set up the second step and return the recovery codes, which are shown only this once.

    Other sessions and tokens of the administrator end.

    Raises:
        WrongCode: the authenticator does not have the secret, or its clock is wrong.
        session_check.SessionEnded: the administrator's credentials or rights have changed since the caller
            read the row.

    """
    step = totp.find_step(secret, "".join(code.split()), after=0, now=time.time())
    if step is None:
        raise WrongCode
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        session_check.lock(administrator)
        _save(administrator, timezone.now(), encrypt_secret(administrator, secret), step)
        log.record(Event.SECOND_STEP_CREATE, id=administrator.pk, username=administrator.username)
        return _new_codes(administrator)


def renew_codes(administrator: Administrator) -> list[str]:
    """Replace the recovery codes and return the new ones, which are shown only this once.

    Raises:
        session_check.SessionEnded: as ``set_up``.

    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        session_check.lock(administrator)
        log.record(Event.RECOVERY_CODES_CREATE, id=administrator.pk, username=administrator.username)
        return _new_codes(administrator)


def remove(administrator: Administrator) -> None:
    """Remove the own second step. Sessions and tokens of the administrator end.

    Raises:
        session_check.SessionEnded: as ``set_up``.

    """
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        session_check.lock(administrator)
        _remove(administrator)


def reset(administrator: Administrator, *, by: Administrator | None = None) -> None:
    """Remove the second step of another administrator. ``by`` is None for a command.

    Raises:
        NotOneself: ``by`` is the administrator.
        records.Gone: the administrator was deleted.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    if by is not None and administrator.pk == by.pk:
        raise NotOneself
    with tenancy.using(tenancy.DEFAULT), transaction.atomic():
        rights.lock(administrator, by=by)
        _remove(administrator)


def _remove(administrator: Administrator) -> None:
    _save(administrator, None, "", 0)
    administrator.recovery_codes.all().delete()
    log.record(Event.SECOND_STEP_DELETE, id=administrator.pk, username=administrator.username)


def _save(administrator: Administrator, since: Any, sealed: str, step: int) -> None:
    administrator.second_step_since, administrator.sealed_totp_secret = since, sealed
    administrator.totp_step = step
    epoch, administrator.epoch = administrator.epoch, F("epoch") + 1
    administrator.save(update_fields=["second_step_since", "sealed_totp_secret", "totp_step", "epoch"])
    administrator.epoch = epoch + 1  # exact if the row is locked, as for the own second step


def _new_codes(administrator: Administrator) -> list[str]:
    administrator.recovery_codes.all().delete()
    codes = [printed_codes.new() for _ in range(_CODES)]
    RecoveryCode.objects.bulk_create(
        RecoveryCode(administrator=administrator, digest=keyring.digest(code, purpose=_CODES_PURPOSE))
        for code in codes
    )
    return [printed_codes.group(code) for code in codes]
