"""Creating, changing and removing rows that administrators edit: atomic, audited, never lost.

Each edit moves the row's ``version`` on. A caller that says which version it saw is
refused when somebody else was faster.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, UniqueConstraint
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core import audit_facts
from identity.core.errors import Invalid, ServiceError
from identity.core.models import Versioned


class Stale(ServiceError):
    """Somebody else changed it since the caller read it (RFC 9110 section 15.5.13)."""

    status = 412
    reason = "stale"
    message = "it was changed since you read it: read it again and repeat your change"


class Gone(ServiceError):
    """Somebody deleted it while this request was on its way."""

    status = 404
    reason = "gone"
    message = "not found: it was deleted at this moment"


class Protected(ServiceError):
    """It was made with the tenant, and the tenant cannot do without it."""

    reason = "protected"
    message = "it belongs to the tenant itself and cannot be changed like this"


class UnknownIds(Invalid):
    """A body names ids that are nothing in this tenant, or nothing of the right kind."""

    reason = "unknown_ids"

    def __init__(self, field: str, ids: list[str]) -> None:
        self.ids = ids
        shown = ", ".join(ids[:20]) + (f" and {len(ids) - 20} more" if len(ids) > 20 else "")  # noqa: PLR2004
        super().__init__(field, f"unknown, or not of a kind that fits here: {shown}")


class Taken(Invalid):
    """A value that must be unique in the tenant is somebody else's."""

    def __init__(self, field: str) -> None:
        super().__init__(field, "already exists")


@contextmanager
def refusing_duplicates(row: Versioned) -> Iterator[None]:
    """Turn the database's refusal of a second row into one that names the field.

    Raises:
        Taken: a value that must be unique in the tenant is somebody else's.

    """
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        for constraint in row._meta.constraints:
            if isinstance(constraint, UniqueConstraint) and _is_taken(row, constraint):
                raise Taken(_public_name(constraint)) from None
        raise


def _is_taken(row: Versioned, constraint: UniqueConstraint) -> bool:
    values = {field: getattr(row, field) for field in constraint.fields}
    if None in values.values():
        return False
    return type(row)._default_manager.filter(**values).exclude(pk=row.pk).exists()


def _public_name(constraint: UniqueConstraint) -> str:
    return constraint.fields[-1].removesuffix("_key")


@transaction.atomic
def create(row: Versioned, *, event: Event, **facts: Any) -> None:
    """Insert a row.

    Raises:
        Taken: a value that must be unique is somebody else's.

    """
    with refusing_duplicates(row):
        row.save(force_insert=True)
    log.record(event, id=row.pk, **{**audit_facts.of_new_row(row), **facts})


@transaction.atomic
def change(  # noqa: PLR0913 - what is changed, and what the log has of it
    row: Versioned,
    fields: Mapping[str, object],
    *,
    event: Event,
    expected: frozenset[int] | None = None,
    shown: list[str] | None = None,
    was: Mapping[str, object] | None = None,
    **facts: Any,
) -> None:
    """Change fields of a row; ``expected`` are the versions that the caller may have seen.

    ``shown`` names what changed for the audit log where columns are called otherwise, ``was`` what
    fields were where the row has the new values already, and ``facts`` are written down besides.

    Raises:
        Stale: the row has another version by now.
        Gone: there is no such row any more.
        Taken: a value that must be unique is somebody else's.

    """
    was = was or {name: getattr(row, name) for name in fields}
    for name, value in fields.items():
        setattr(row, name, value)
    row.updated_at = timezone.now()
    current = type(row)._default_manager.filter(pk=row.pk)
    if expected is not None:
        current = current.filter(version__in=expected)
    with refusing_duplicates(row):
        if not current.update(**fields, updated_at=row.updated_at, version=F("version") + 1):
            hold(row, expected)
    kept = audit_facts.of_change(was, fields) | facts
    log.record(event, id=row.pk, fields=shown or sorted(fields), **kept)


def remove(row: Versioned, *, event: Event, expected: frozenset[int] | None = None, **facts: Any) -> None:
    """Delete a row and what hangs on it.

    Raises:
        Stale: the row has another version by now.
        Gone: somebody else was faster.

    """
    try:
        _remove(row, event, expected, facts)
    except IntegrityError:
        # A request that was under way tied one row more to it than was gathered: gather again.
        _remove(row, event, expected, facts)


@transaction.atomic
def _remove(row: Versioned, event: Event, expected: frozenset[int] | None, facts: dict[str, Any]) -> None:
    hold(row, expected)
    log.record(event, id=row.pk, **facts)
    # Not by a query, which would read the row once more; and a copy, because Django takes the id away.
    copy(row).delete()


def hold(row: Versioned, expected: frozenset[int] | None) -> None:
    """Keep a row from being changed or deleted by others until the transaction ends.

    Whoever only ties something to it, as a token request does, neither waits nor fails.

    Raises:
        Stale: the row has another version by now.
        Gone: there is no such row any more.

    """
    locked = type(row)._default_manager.select_for_update(no_key=True).filter(pk=row.pk)
    version = locked.values_list("version", flat=True).first()
    if version is None:
        raise Gone
    if expected is not None and version not in expected:
        raise Stale


def touch(row_type: type[Versioned], pk: UUID, expected: frozenset[int] | None, **allowed: object) -> bool:
    """Move a row's version on, which also locks it until the transaction ends.

    Returns false when there is no such row, or none that passes the look-ups ``allowed``.

    Raises:
        Stale: there is, but of another version.

    """
    rows = row_type._default_manager.filter(pk=pk, **allowed)
    wanted = rows if expected is None else rows.filter(version__in=expected)
    if wanted.update(version=F("version") + 1):
        return True
    if expected is not None and rows.exists():
        raise Stale
    return False
