"""The columns that ``ENCRYPTION_KEYS`` protects: counting their values by key, and reencrypting them.

``settings.ENCRYPTED_COLUMNS`` names the declarations by dotted path. Every value begins with the id of its
key.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Substr
from django.utils.module_loading import import_string

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.encryption import keyring

_ID_LENGTH: Final = 8
_BATCH: Final = 100


def _tenant_and_row(row: Any) -> str:
    return f"{row.tenant_id}/{row.pk}"


@dataclass(frozen=True, slots=True)
class EncryptedColumn:
    """A column of protected values, with a name for operators.

    With a ``purpose`` the values come from ``keyring.encrypt`` and can be reencrypted. They are bound to
    tenant and row, or to what ``bound_to`` returns. Without a purpose the values are keyed hashes, which
    cannot be reencrypted. ``moves`` tells operators when a value is replaced.
    """

    name: str
    rows: Callable[[], QuerySet[Any]]
    column: str
    purpose: str = ""
    moves: str = ""
    bound_to: Callable[[Any], str] = _tenant_and_row


@dataclass(frozen=True, slots=True)
class Reencrypted:
    """The number of values of a batch that were reencrypted, and of those that no key decrypts."""

    reencrypted: int
    undecryptable: int


def get_columns() -> list[EncryptedColumn]:
    return [column for path in settings.ENCRYPTED_COLUMNS for column in import_string(path)]


def count_by_key(column: EncryptedColumn) -> dict[str, int]:
    """Return the number of values of a column in all tenants, by key id."""
    with tenancy.using(tenancy.EVERYWHERE):
        rows = column.rows().order_by().annotate(ring_key=Substr(column.column, 1, _ID_LENGTH))
        return dict(rows.values_list("ring_key").annotate(Count("pk")))


def count_outdated(column: EncryptedColumn) -> int:
    """Return the number of values of a column that do not use the first key."""
    return sum(number for key_id, number in count_by_key(column).items() if key_id != keyring.current_id())


def reencrypt(column: EncryptedColumn) -> Iterator[Reencrypted]:
    """Reencrypt the values of other keys with the first key, and yield the result of each batch.

    Each batch is one transaction with an audit entry. A second run changes nothing.
    """
    after: UUID | None = None
    while True:
        with tenancy.using(tenancy.EVERYWHERE), transaction.atomic():
            rows = _select_outdated(column, after)
            result = _reencrypt_rows(column, rows)
        yield result
        if len(rows) < _BATCH:
            return
        after = rows[-1].pk


def _select_outdated(column: EncryptedColumn, after: UUID | None) -> list[Any]:
    rows = column.rows().exclude(**{f"{column.column}__startswith": f"{keyring.current_id()}."})
    if after is not None:
        rows = rows.filter(pk__gt=after)
    # Concurrent changes wait for the lock, so they are not overwritten.
    return list(rows.select_for_update(no_key=True).order_by("pk")[:_BATCH])


def _reencrypt_rows(column: EncryptedColumn, rows: list[Any]) -> Reencrypted:
    done = 0
    for row in rows:
        bound_to = column.bound_to(row)
        try:
            plaintext = keyring.decrypt(
                getattr(row, column.column), purpose=column.purpose, bound_to=bound_to
            )
        except keyring.UnknownKey:
            continue
        encrypted = keyring.encrypt(plaintext, purpose=column.purpose, bound_to=bound_to)
        done += column.rows().filter(pk=row.pk).update(**{column.column: encrypted})
    if done:
        log.record(Event.SECRET_RESEAL, kind=column.name, count=done, key_id=keyring.current_id())
    return Reencrypted(done, len(rows) - done)
