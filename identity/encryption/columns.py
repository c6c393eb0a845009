"""The columns that ``ENCRYPTION_KEYS`` protects: how many values use which key, and reencrypting them.

``settings.ENCRYPTED_COLUMNS`` names the declarations by dotted path. Every such value begins with the
id of the key that it was made with.
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
    """A column of protected values, by a name for operators.

    With a ``purpose`` it holds what ``keyring.encrypt`` returned, bound to tenant and row unless
    ``bound_to`` says otherwise, and can be reencrypted. A value without a purpose is replaced when it
    is next used: ``moves`` says when.
    """

    name: str
    rows: Callable[[], QuerySet[Any]]
    column: str
    purpose: str = ""
    moves: str = ""
    bound_to: Callable[[Any], str] = _tenant_and_row


@dataclass(frozen=True, slots=True)
class Reencrypted:
    """How many values of a batch were reencrypted, and how many no key of the ring decrypts."""

    done: int
    closed: int


def declared() -> list[EncryptedColumn]:
    """Return all encrypted columns."""
    return [kind for path in settings.ENCRYPTED_COLUMNS for kind in import_string(path)]


def by_key(kind: EncryptedColumn) -> dict[str, int]:
    """Return how many values of a column were made with which key, by key id, in all tenants."""
    with tenancy.using(tenancy.EVERYWHERE):
        rows = kind.rows().order_by().annotate(ring_key=Substr(kind.column, 1, _ID_LENGTH))
        return dict(rows.values_list("ring_key").annotate(Count("pk")))


def under_older_keys(kind: EncryptedColumn) -> int:
    """Return how many values of a column were made with another key than the first of the ring."""
    return sum(number for key, number in by_key(kind).items() if key != keyring.current())


def reencrypt(kind: EncryptedColumn) -> Iterator[Reencrypted]:
    """Reencrypt the values of older keys with the first key of the ring, and yield each batch's result.

    Each batch is a transaction of its own, with its audit entry. A second run changes nothing.
    """
    after: UUID | None = None
    while True:
        with tenancy.using(tenancy.EVERYWHERE), transaction.atomic():
            rows = _under_older_keys(kind, after)
            result = _reencrypt_each(kind, rows)
        yield result
        if len(rows) < _BATCH:
            return
        after = rows[-1].pk


def _under_older_keys(kind: EncryptedColumn, after: UUID | None) -> list[Any]:
    rows = kind.rows().exclude(**{f"{kind.column}__startswith": f"{keyring.current()}."})
    if after is not None:
        rows = rows.filter(pk__gt=after)
    # A concurrent change of one of them waits, and then changes the new value.
    return list(rows.select_for_update(no_key=True).order_by("pk")[:_BATCH])


def _reencrypt_each(kind: EncryptedColumn, rows: list[Any]) -> Reencrypted:
    done = 0
    for row in rows:
        bound_to = kind.bound_to(row)
        try:
            opened = keyring.decrypt(getattr(row, kind.column), purpose=kind.purpose, bound_to=bound_to)
        except keyring.UnknownKey:
            continue
        encrypted = keyring.encrypt(opened, purpose=kind.purpose, bound_to=bound_to)
        done += kind.rows().filter(pk=row.pk).update(**{kind.column: encrypted})
    if done:
        log.record(Event.SECRET_RESEAL, kind=kind.name, count=done, key_id=keyring.current())
    return Reencrypted(done, len(rows) - done)
