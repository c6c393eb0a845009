"""When the last token of a signing key expires.

Tokens have no rows, so ``SigningKeyUsage`` holds the full hours in which tokens of a key expire. A process
writes the hour of an expiry before it first signs a token with that expiry or a later one: once an hour, and
again for a longer lifetime. Rounding up to the full hour makes one row cover all requests of an hour, and
unlike the longest lifetime that the tenant allows it does not keep a key of one-hour tokens for 30 days.

No token is signed with a key that somebody saw unused and deleted. ``record`` writes only for the active key,
and locks the key's row while it does (``FOR SHARE``; SQLite has one writer at a time). A rotation changes
that row: it waits for a ``record`` that has begun, and a later ``record`` finds the successor. So the hours
of a key are final when its rotation commits, and a key that is active cannot be deleted.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Max
from django.utils import timezone

from database import ids
from database.statements import Prepared, Statement
from identity.core import tenancy
from identity.core.tenant_statements import moment, text, uuid
from oidc.keys import usage_in_log
from oidc.keys.models import SigningKey, SigningKeyUsage

_HOUR: Final = 3600
_MOST: Final = 16_384  # as many as there are private keys in memory
_ATTEMPTS: Final = 10
_INSERT: Final = """
INSERT INTO keys_signingkeyusage (id, tenant_id, key_id, expires_at, created_at, updated_at)
SELECT %s, tenant_id, id, %s, %s, %s FROM keys_signingkey WHERE tenant_id = %s AND status = 'active' {lock}
ON CONFLICT (tenant_id, key_id, expires_at) DO UPDATE SET updated_at = EXCLUDED.updated_at
RETURNING key_id
"""
_LOCK: Final = {"postgresql": "FOR SHARE", "sqlite": ""}


class _Insert(Statement[Prepared]):
    """The insert of a row for the active key."""

    def prepare(self, database: BaseDatabaseWrapper) -> Prepared:
        now = moment("now")
        parameters = [uuid("id"), moment("expires_at"), now, now, text("tenant_id")]
        return Prepared(_INSERT.format(lock=_LOCK[database.vendor]), parameters, database)

    def __call__(self, expires_at: datetime) -> UUID | None:
        """Insert the row, or touch the one that is there. Return the id of the key.

        Return None if the key was retired while the statement waited for it.
        """
        prepared = self.prepared()
        values = {
            "id": ids.new(),
            "tenant_id": tenancy.active_id(),
            "expires_at": expires_at,
            "now": timezone.now(),
        }
        with prepared.database.cursor() as cursor:
            prepared.execute(cursor, values)
            row = cursor.fetchone()
        key_id: UUID | None = SigningKey._meta.pk.to_python(row[0]) if row else None
        return key_id


_insert: Final = _Insert()
# By tenant and key: the latest hour that this process has written. Tokens that expire by then need no write.
_recorded: Final[dict[tuple[str, UUID], int]] = {}


def record(key_id: UUID, *, exp: int) -> UUID:
    """Record that the active key signs tokens with this ``exp``, and return the id of the key to sign with.

    It is the given one unless that was retired. Call it before signing, outside any transaction.

    Raises:
        SigningKey.DoesNotExist: the tenant has no active key.

    """
    tenant_id = tenancy.active_id()
    if exp <= _recorded.get((tenant_id, key_id), 0):
        return key_id
    hour = -(-exp // _HOUR) * _HOUR
    for _ in range(_ATTEMPTS):
        active = _insert(datetime.fromtimestamp(hour, tz=UTC))
        if active is not None:
            break
    else:
        raise SigningKey.DoesNotExist
    if len(_recorded) >= _MOST:
        _recorded.clear()
    _recorded[tenant_id, active] = hour
    return active


def get_last_expiry(key: SigningKey) -> datetime | None:
    """Return when the last access or ID token that a key signed expires; None if all have expired.

    Tokens that were revoked or whose session ended count until they expire.
    """
    recorded = SigningKeyUsage.objects.filter(key=key).aggregate(last=Max("expires_at"))["last"]
    expiries = [last for last in (recorded, usage_in_log.get_last_expiry(key)) if last is not None]
    return max((last for last in expiries if last > timezone.now()), default=None)
