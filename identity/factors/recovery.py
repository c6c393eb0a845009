"""Recovery codes: an administrator lets a user who lost all factors set up a new one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from audit import context, log
from audit.events import Event
from database.chains import Chain
from database.clock import DatabaseNow, seconds_ahead
from identity.encryption import keyring
from identity.factors import printed_codes
from identity.factors.errors import WrongFactor
from identity.factors.models import RecoveryGrant
from identity.users import row_locks
from identity.users.models import User
from identity.users.notices import Notice, notify

DEFAULT_SECONDS: Final = 3_600
MOST_SECONDS: Final = 86_400
_PURPOSE: Final = "users' recovery codes"


@transaction.atomic
def issue(user: User, *, seconds: int = DEFAULT_SECONDS) -> tuple[str, datetime]:
    """Return a new recovery code and when it expires. It replaces an earlier one, and the user gets a notice.

    The code is shown only this once.
    """
    row_locks.lock(user)
    RecoveryGrant.objects.filter(user=user, used_at=None).delete()
    code = printed_codes.new()
    origin = context.current()
    made_by = str(origin.administrator_id or origin.application_id or "")
    grant = RecoveryGrant(user=user, made_by=made_by, expires_at=seconds_ahead(seconds))
    grant.digest = keyring.digest(code, purpose=_PURPOSE)
    grant.save(force_insert=True)
    grant.refresh_from_db(fields=("expires_at",))
    expires_at = grant.expires_at.isoformat()
    log.record(Event.USER_RECOVERY_CODE_ISSUE, user_id=user.pk, id=user.pk, expires_at=expires_at)
    notify(user, Notice.RECOVERY_CODE_MADE)
    return printed_codes.group(code), grant.expires_at


@dataclass(frozen=True, slots=True)
class ValidCode:
    """A recovery code that its user has entered. It can be used once."""

    user: User
    grant: RecoveryGrant

    def use(self, chain: Chain) -> None:
        """Use the code, and send the user a notice. Of two concurrent requests, one uses it.

        Raises (when the chain runs):
            WrongFactor: the code was used meanwhile.

        """
        chain.call(self._use)

    def _use(self) -> None:
        user, grant = self.user, self.grant
        if not RecoveryGrant.objects.filter(pk=grant.pk, used_at=None).update(used_at=DatabaseNow()):
            raise WrongFactor
        log.record(Event.USER_RECOVERY_CODE_USE, user_id=user.pk, id=user.pk, made_by=grant.made_by)
        notify(user, Notice.RECOVERY_CODE_USED)


def find_code(user: User, code: str) -> ValidCode | None:
    """Return a code if it is the recovery code of the user. Spaces, dashes and case are ignored."""
    typed = printed_codes.normalize(code).upper()
    unused = RecoveryGrant.objects.filter(user=user, used_at=None, expires_at__gt=DatabaseNow())
    matching = (row for row in unused if keyring.matches(typed, row.digest, purpose=_PURPOSE))
    return next((ValidCode(user, row) for row in matching), None)
