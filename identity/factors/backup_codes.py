"""Backup codes: single-use codes for users who cannot use their other factors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Count, Max, Q

from audit import log
from audit.events import Event
from database.chains import Chain
from database.clock import DatabaseNow
from identity.core.errors import Invalid
from identity.encryption import keyring
from identity.factors import printed_codes
from identity.factors.errors import WrongFactor
from identity.factors.models import Authenticator, BackupCode, Passkey
from identity.users import row_locks
from identity.users.factor_bits import BACKUP_CODE
from identity.users.models import User
from identity.users.notices import Notice, notify

NUMBER: Final = 10
FEW: Final = 2  # with this many left or fewer, the user is asked to make new ones
_PURPOSE: Final = "users' backup codes"


class NoOtherFactor(Invalid):
    """Backup codes alone are no second factor."""

    reason = "no_other_factor"

    def __init__(self) -> None:
        super().__init__("type", "backup codes need another factor: set that up first")


@transaction.atomic
def renew(user: User) -> list[str]:
    """Replace the backup codes of a user and return the new ones, which are shown only this once.

    Raises:
        NoOtherFactor: the user has no other factor.

    """
    if not row_locks.lock_factors(user) & ~BACKUP_CODE:
        raise NoOtherFactor
    BackupCode.objects.filter(user=user).delete()
    codes = [printed_codes.new() for _ in range(NUMBER)]
    BackupCode.objects.bulk_create(BackupCode(user=user, digest=_digest(code)) for code in codes)
    log.record(Event.BACKUP_CODES_CREATE, user_id=user.pk, id=user.pk)
    return [printed_codes.group(code) for code in codes]


@dataclass(frozen=True, slots=True)
class ValidCode:
    """A backup code that its user has entered. It can be used once."""

    user: User
    stored: BackupCode

    def use(self, chain: Chain) -> None:
        """Use the code, and send the user a notice. Of two concurrent requests, one uses it.

        Raises (when the chain runs):
            WrongFactor: the code was used meanwhile.

        """
        chain.call(self._use)

    def _use(self) -> None:
        user = self.user
        # Lock order: the user's row first. With the last code, a trigger changes it.
        row_locks.lock(user)
        if not BackupCode.objects.filter(pk=self.stored.pk, used_at=None).update(used_at=DatabaseNow()):
            raise WrongFactor
        left = count(user)
        log.record(Event.BACKUP_CODE_USE, user_id=user.pk, id=user.pk, remaining=left)
        notify(user, Notice.BACKUP_CODE_USED, left=str(left))


def find_code(user: User, code: str) -> ValidCode | None:
    """Return a code if it is an unused backup code of the user. Spaces, dashes and case are ignored."""
    typed = printed_codes.normalize(code).upper()
    unused = BackupCode.objects.filter(user=user, used_at=None)
    matching = (row for row in unused if keyring.matches(typed, row.digest, purpose=_PURPOSE))
    return next((ValidCode(user, row) for row in matching), None)


def are_due(user: User, *, since: datetime) -> bool:
    """Return whether a user needs new codes because of what happened since a time.

    A user with codes needs new ones if one was used and only a few are left. A user without codes needs them
    if the last one was used, or another factor was set up.
    """
    codes = BackupCode.objects.filter(user=user)
    if user.factors & BACKUP_CODE:
        found = codes.aggregate(last=Max("used_at"), left=Count("pk", filter=Q(used_at=None)))
        return found["last"] is not None and found["last"] >= since and found["left"] <= FEW
    set_up = [model.objects.filter(user=user, created_at__gte=since) for model in (Passkey, Authenticator)]
    changes = codes.filter(used_at__gte=since).values("pk").union(*(rows.values("pk") for rows in set_up))
    return changes.exists()


def count(user: User) -> int:
    """Return the number of unused backup codes of a user."""
    return BackupCode.objects.filter(user=user, used_at=None).count()


def _digest(code: str) -> str:
    return keyring.digest(code, purpose=_PURPOSE)
