"""Recovery codes: an administrator lets a user who lost all factors set up a new one."""

import base64
import secrets
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils import timezone

from audit import context, log
from audit.events import Event
from database.clock import DatabaseNow, seconds_ahead
from identity.encryption import keyring
from identity.factors.models import RecoveryGrant
from identity.users.models import User
from identity.users.notices import Notice, notify

DEFAULT_SECONDS: Final = 3_600
MOST_SECONDS: Final = 86_400
_BYTES: Final = 10
_PURPOSE: Final = "users' recovery codes"


@transaction.atomic
def issue(user: User, *, seconds: int = DEFAULT_SECONDS) -> tuple[str, datetime]:
    """Return a new recovery code and when it expires. It replaces an earlier one, and the user gets a notice.

    The code is shown only this once.
    """
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))
    RecoveryGrant.objects.filter(user=user, used_at=None).delete()
    code = base64.b32encode(secrets.token_bytes(_BYTES)).decode()
    origin = context.current()
    made_by = str(origin.administrator_id or origin.application_id or "")
    grant = RecoveryGrant(user=user, made_by=made_by, expires_at=seconds_ahead(seconds))
    grant.digest = keyring.digest(code, purpose=_PURPOSE)
    grant.save(force_insert=True)
    grant.refresh_from_db(fields=("expires_at",))
    expires_at = grant.expires_at.isoformat()
    log.record(Event.USER_RECOVERY_CODE_ISSUE, user_id=user.pk, id=user.pk, expires_at=expires_at)
    notify(user, Notice.RECOVERY_CODE_MADE)
    return "-".join(code[start : start + 4] for start in range(0, len(code), 4)), grant.expires_at


@transaction.atomic
def redeem(user: User, code: str) -> bool:
    """Use the recovery code of a user, and return whether it was right. The user gets a notice.

    Spaces, dashes and case do not count. Of two concurrent requests, one uses the code.
    """
    grant = find(user, code)
    if grant is None:
        return False
    if not RecoveryGrant.objects.filter(pk=grant.pk, used_at=None).update(used_at=timezone.now()):
        return False
    log.record(Event.USER_RECOVERY_CODE_USE, user_id=user.pk, id=user.pk, made_by=grant.made_by)
    notify(user, Notice.RECOVERY_CODE_USED)
    return True


def find(user: User, code: str) -> RecoveryGrant | None:
    """Return the row of a recovery code of a user if the code is right. The code can still be used."""
    typed = "".join(code.split()).replace("-", "").upper()
    unused = RecoveryGrant.objects.filter(user=user, used_at=None, expires_at__gt=DatabaseNow())
    return next((row for row in unused if keyring.matches(typed, row.digest, purpose=_PURPOSE)), None)
