"""The rotation of a refresh family: its next generation and the audit entry, in one statement."""

from collections.abc import Callable
from typing import Any, Final

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from audit import log
from audit.models import Entry
from database.batching import Work
from database.statements import AtomicChange
from identity.core.tenant_statements import Update, duration, number, text, uuid
from identity.encryption import keyring
from oidc.applications import lifetimes
from oidc.grants import token_columns
from oidc.grants.models import RefreshFamily


def _rotate(newest: Callable[[], QuerySet[RefreshFamily]]) -> AtomicChange:
    return AtomicChange(
        Update(
            newest,
            generation=F("generation") + 1,
            key_id=text("key_id"),
            rotated_at=Now(),
            idle_expires_at=Now() + duration("idle_lifetime"),
        ),
        log.INSERT,
    )


# The UPDATE has one table only. With a join (to the user, as in ``live``) Django selects the ids in a
# subquery, which PostgreSQL does not run again after waiting for a concurrent rotation: both rotations
# would succeed and skip a generation.
def _newest() -> QuerySet[RefreshFamily]:
    return RefreshFamily.objects.filter(
        token_columns.is_open(), pk=uuid("pk"), generation=number("generation")
    )


# The subquery locks the row or skips it, so the UPDATE never waits, and need not read it again.
def _newest_if_free() -> QuerySet[RefreshFamily]:
    free = RefreshFamily.objects.filter(pk=uuid("pk")).select_for_update(skip_locked=True)
    return _newest().filter(pk__in=free.values("pk"))


_ROTATE: Final = _rotate(_newest)
# This never waits for the lock of a row, so it can be executed together with rotations of other families.
_ROTATE_IF_FREE: Final = _rotate(_newest_if_free)


def advance(family: RefreshFamily, entry: Entry) -> bool:
    """Advance to the next generation and write the entry, in one statement.

    Return false, with nothing written, if another request did so first or the family has ended or expired.
    """
    key_id = keyring.current_id()
    is_rotated = _ROTATE(_get_values(family, key_id), entry)
    if is_rotated:
        _note_next(family, key_id, entry)
    return is_rotated


def advance_if_free(family: RefreshFamily, entry: Entry) -> Work[bool]:
    """Do what ``advance`` does, but return false, too, if another request is changing the family now."""
    key_id = keyring.current_id()
    outcome = yield _ROTATE_IF_FREE.call(_get_values(family, key_id), entry)
    is_rotated = bool(outcome.count)
    if is_rotated:
        _note_next(family, key_id, entry)
    return is_rotated


def _get_values(family: RefreshFamily, key_id: str) -> dict[str, Any]:
    return {
        "pk": family.pk,
        "generation": family.generation,
        "key_id": key_id,
        "idle_lifetime": lifetimes.get_refresh_idle(family.application),
    }


def _note_next(family: RefreshFamily, key_id: str, entry: Entry) -> None:
    log.count(entry)
    family.generation += 1
    family.key_id = key_id
