"""When the last token of a signing key expires.

Tokens have no rows, so ``SigningKeyUsage`` holds the full hours in which tokens of a key expire. A process
writes the hour of an expiry before it first signs a token with that expiry or a later one: once an hour, and
again for a longer lifetime. Because expiries are rounded up to the full hour, one row covers all requests of
an hour. The longest lifetime that the tenant allows is no substitute: with it, a key of one-hour tokens would
be kept for 30 days.

No token is signed with a key that somebody saw unused and deleted. ``record`` writes only for an active key,
and locks the key's row while it writes (``FOR SHARE``; SQLite has one writer at a time). A rotation changes
that row: the rotation waits for a ``record`` that has begun, and a later ``record`` finds the successor. So
the hours of a key are final when its rotation commits, and a key that is active cannot be deleted.
"""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Max
from django.utils import timezone

from database import ids
from database.parameters import Parameter
from database.statements import CompiledStatement, Statement
from identity.core import tenancy
from identity.core.tenant_statements import moment, text, uuid
from oidc.keys.models import SigningKey, SigningKeyUsage

_HOUR: Final = 3600
_MOST: Final = 16_384  # as many as there are private keys in memory
_ATTEMPTS: Final = 10
_INSERT: Final = """
INSERT INTO keys_signingkeyusage (id, tenant_id, key_id, expires_at, created_at, updated_at)
SELECT %s, tenant_id, id, %s, %s, %s FROM keys_signingkey
WHERE tenant_id = %s AND status = 'active' AND {which} {lock}
ON CONFLICT (tenant_id, key_id, expires_at) DO UPDATE SET updated_at = EXCLUDED.updated_at
RETURNING key_id
"""
_LOCK: Final = {"postgresql": "FOR SHARE", "sqlite": ""}


class _Insert(Statement[CompiledStatement]):
    """The insert of a row for an active key: the one that a condition selects."""

    def __init__(self, which: str, *parameters: Parameter) -> None:
        super().__init__()
        self.which: Final = which
        self.parameters: Final = parameters

    def compile(self, database: BaseDatabaseWrapper) -> CompiledStatement:
        now = moment("now")
        parameters = [uuid("id"), moment("expires_at"), now, now, text("tenant_id"), *self.parameters]
        statement = _INSERT.format(which=self.which, lock=_LOCK[database.vendor])
        return CompiledStatement(statement, parameters, database)

    def __call__(self, expires_at: datetime, algorithm: str) -> UUID | None:
        """Insert the row, or update the existing one. Return the id of the key.

        Return None if the key was retired while the statement waited for it.
        """
        compiled = self.for_this_thread()
        values = {
            "id": ids.new(),
            "tenant_id": tenancy.active_id(),
            "expires_at": expires_at,
            "algorithm": algorithm,
            "now": timezone.now(),
        }
        with compiled.cursor() as cursor:
            compiled.execute(cursor, values)
            row = cursor.fetchone()
        key_id: UUID | None = SigningKey._meta.pk.to_python(row[0]) if row else None
        return key_id


_insert_for_default: Final = _Insert("is_default")
_insert_for_algorithm: Final = _Insert("algorithm = %s", text("algorithm"))
# By tenant and key: the latest hour that this process has written. Tokens that expire by then need no write.
_recorded: Final[dict[tuple[str, UUID], int]] = {}


def record(key_id: UUID | None, *, exp: int, algorithm: str = "") -> UUID:
    """Record that an active key signs tokens with this ``exp``, and return the id of the key to sign with.

    That key is ``key_id``. If ``key_id`` is None or was retired, it is the active key of the algorithm or,
    without an algorithm, the default key. Call it before signing, outside any transaction.

    Raises:
        SigningKey.DoesNotExist: the tenant has no such key.

    """
    tenant_id = tenancy.active_id()
    if key_id is not None and exp <= _recorded.get((tenant_id, key_id), 0):
        return key_id
    hour = -(-exp // _HOUR) * _HOUR  # rounded up
    insert = _insert_for_algorithm if algorithm else _insert_for_default
    for _ in range(_ATTEMPTS):
        active = insert(datetime.fromtimestamp(hour, tz=UTC), algorithm)
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
    unexpired = SigningKeyUsage.objects.filter(key=key, expires_at__gt=timezone.now())
    last: datetime | None = unexpired.aggregate(last=Max("expires_at"))["last"]
    return last
