"""Creating, changing and deleting the rows that administrators edit: atomic, audited, without lost updates.

Each edit increments the row's ``version``. An edit of a version that is no longer the current one is refused.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, UniqueConstraint
from django.utils import timezone
from django.utils.translation import gettext_noop, ngettext_lazy

from audit import log
from audit.events import Event
from identity.core import audit_facts, deletion_rules
from identity.core.errors import Invalid, ServiceError
from identity.core.models import Versioned
from identity.core.refusal_texts import fill

_MOST_NAMED: Final = 20  # ids that a message repeats


class Stale(ServiceError):
    """The row was changed since the caller read it (RFC 9110 section 15.5.13)."""

    status = 412
    reason = "stale"
    message = gettext_noop("the resource was changed since you read it: read it again and repeat your change")


class Gone(ServiceError):
    """Another request has deleted the row."""

    status = 404
    reason = "gone"
    message = gettext_noop("not found: the resource was just deleted")


class Protected(ServiceError):
    """The row was created with the tenant, which cannot work without it."""

    reason = "protected"
    message = gettext_noop("a built-in role, API resource or scope cannot be renamed or deleted")


def _shorten(ids: list[str]) -> str | list[str]:
    named, others = ids[:_MOST_NAMED], len(ids) - _MOST_NAMED
    if others <= 0:
        return named
    text = ngettext_lazy("%(ids)s and %(count)s more", "%(ids)s and %(count)s more", "count")
    return fill(text, ids=named, count=others)


class UnknownIds(Invalid):
    """A request names ids that are unknown in this tenant, or not of an allowed kind."""

    reason = "unknown_ids"

    def __init__(self, field: str, ids: list[str]) -> None:
        self.ids = ids
        rule = fill(gettext_noop("unknown or not of the required type: %(ids)s"), ids=_shorten(ids))
        super().__init__(field, rule, code="unknown")


class Taken(Invalid):
    """Another row of the tenant has a value that must be unique."""

    def __init__(self, field: str) -> None:
        super().__init__(field, gettext_noop("already exists"), code="not_unique")


@contextmanager
def refusing_duplicates(row: Versioned) -> Iterator[None]:
    """Turn the violation of a unique constraint into an error that names the field.

    Raises:
        Taken: another row of the tenant has a value that must be unique.

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
        Taken: another row has a value that must be unique.

    """
    with refusing_duplicates(row):
        row.save(force_insert=True)
    log.record(event, id=row.pk, **{**audit_facts.new_row_facts(row), **facts})


@transaction.atomic
def change(  # noqa: PLR0913 - the change, and its audit entry
    row: Versioned,
    fields: Mapping[str, object],
    *,
    event: Event,
    expected: frozenset[int] | None = None,
    changed_fields: list[str] | None = None,
    old_values: Mapping[str, object] | None = None,
    changes_more: bool = False,
    **facts: Any,
) -> bool:
    """Change fields of a row. ``expected`` has the versions that the caller may have read; None allows any.

    If the row has all these values already, nothing is written, and the result is false. ``changes_more``
    says that the caller changes something besides the row. The other arguments are for the audit entry.
    ``changed_fields`` replaces the names of ``fields`` if columns have other names in the API.
    ``old_values`` is needed if the row already has the new values. ``facts`` are added.

    Raises:
        Stale: the row now has another version.
        Gone: the row was deleted.
        Taken: another row has a value that must be unique.

    """
    if old_values is None:
        old_values = {name: getattr(row, name) for name in fields}
    if not changes_more and _has_values(old_values, fields) and _is_unchanged(row, fields, expected):
        return False
    for name, value in fields.items():
        setattr(row, name, value)
    row.updated_at = timezone.now()
    current = type(row)._default_manager.filter(pk=row.pk)
    if expected is not None:
        current = current.filter(version__in=expected)
    with refusing_duplicates(row):
        if not current.update(**fields, updated_at=row.updated_at, version=F("version") + 1):
            lock(row, expected)
    changed_facts = audit_facts.change_facts(old_values, fields) | facts
    names = sorted(fields) if changed_fields is None else changed_fields
    named = audit_facts.name_members(names, old_values, fields)
    log.record(event, id=row.pk, fields=named, **changed_facts)
    return True


def _has_values(values: Mapping[str, object], fields: Mapping[str, object]) -> bool:
    return all(_is_same(values[name], value) for name, value in fields.items())


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, dict | list):  # Python's 1 equals 1.0 and True, which JSON distinguishes
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    return one == other


def _is_unchanged(row: Versioned, fields: Mapping[str, object], expected: frozenset[int] | None) -> bool:
    """Lock the row, and return whether it still has the values that the caller read.

    Raises:
        Stale: the row now has another version.
        Gone: the row was deleted.

    """
    lock(row, expected)
    current = type(row)._default_manager.filter(pk=row.pk).values(*fields).get() if fields else {}
    return _has_values(current, fields)


def remove(row: Versioned, *, event: Event, expected: frozenset[int] | None = None, **facts: Any) -> None:
    """Delete a row and its dependent rows.

    Raises:
        Stale: the row now has another version.
        Gone: the row was deleted by another request.
        ServiceError: an app above refuses it: see ``deletion_rules``.

    """
    try:
        _remove(row, event, expected, facts)
    except IntegrityError:
        # A concurrent request added a dependent row after they were collected: collect them again.
        _remove(row, event, expected, facts)


@transaction.atomic
def _remove(row: Versioned, event: Event, expected: frozenset[int] | None, facts: dict[str, Any]) -> None:
    deletion_rules.check(row)  # first, because a rule may lock rows that are locked before this one
    lock(row, expected)
    log.record(event, id=row.pk, **facts)
    # A queryset would read the row again. Delete a copy, because Django clears the id of a deleted object.
    copy(row).delete()


def lock(row: Versioned, expected: frozenset[int] | None) -> None:
    """Lock a row against changes and deletion until the transaction ends.

    Inserts of rows that refer to it, as in token requests, need not wait.

    Raises:
        Stale: the row now has another version.
        Gone: the row was deleted.

    """
    locked = type(row)._default_manager.select_for_update(no_key=True).filter(pk=row.pk)
    version = locked.values_list("version", flat=True).first()
    if version is None:
        raise Gone
    if expected is not None and version not in expected:
        raise Stale


def increment_version(
    row_type: type[Versioned], pk: UUID, expected: frozenset[int] | None, **lookups: object
) -> bool:
    """Increment the version of a row. This locks the row until the transaction ends.

    Return false if the row does not exist or does not match ``lookups``.

    Raises:
        Stale: the row has another version.

    """
    rows = row_type._default_manager.filter(pk=pk, **lookups)
    current = rows if expected is None else rows.filter(version__in=expected)
    if current.update(version=F("version") + 1):
        return True
    if expected is not None and rows.exists():
        raise Stale
    return False
