"""Audit entries, their retention, and the stored numbers of entries.

Entries are append-only. The models enforce it for the code, and triggers for everything else.
"""

from datetime import timedelta
from typing import Final, NoReturn, Self

from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from uuid_utils.compat import uuid7

from audit.administrative import hidden_from
from audit.typed_identifiers import Subject
from database import ids
from database.clock import DatabaseNow

MIN_DAYS: Final = 1

# A request id contains the time of the request, and its entries are written about then.
_BEFORE: Final = timedelta(minutes=1)
_AFTER: Final = timedelta(minutes=10)


class AppendOnly(TypeError):
    """An entry cannot be changed or deleted."""


class EntryQuerySet(models.QuerySet["Entry"]):
    """Allows reads and inserts only."""

    def of_request(self, reference: str) -> Self:
        """Return the entries of a request id. An invalid id has none."""
        pk = ids.parse(reference)
        moment = ids.created_at(pk) if pk else None
        if moment is None:
            return self.none()
        begin, end = moment - _BEFORE, moment + _AFTER
        # The time uses the index of one tenant. The id, which begins with the time, serves all tenants.
        around = self.filter(created_at__gte=begin, created_at__lte=end)
        return around.filter(
            pk__gte=ids.smallest_at(begin), pk__lte=ids.smallest_at(end), request_id=reference
        )

    def of_subject(self, subject: Subject) -> Self:
        """Return what users and applications did, changes to them, and attempts with the identifiers.

        Changes to a user include the roles and memberships that the user got or lost.
        """
        return self.filter(
            Q(user_id__in=subject.user_ids)
            | Q(application_id__in=subject.application_ids)
            | Q(identifier_key__in=[*subject.identifier_keys, *subject.user_ids])
            | Q(payload__has_key="id", payload__id__in=[*subject.user_ids, *subject.application_ids])
        )

    def succeeded(self) -> Self:
        """Return the entries that are not about failures. Entries of changes have no result."""
        return self.filter(Q(payload__result__isnull=True) | ~Q(payload__result="failed"))

    def without_trials(self) -> Self:
        """Return the entries that are not about a sign-in that an administrator tried."""
        return self.exclude(payload__has_key="is_test")

    def visible_to(self, reader: object) -> Self:
        """Return the entries that a caller of the API or an operator may see."""
        hidden = hidden_from(reader)
        return self.exclude(key__in=sorted(hidden)) if hidden else self

    def update(self, **_: object) -> NoReturn:
        raise AppendOnly

    def delete(self) -> NoReturn:
        raise AppendOnly


class Entry(models.Model):
    """An audit entry. Ids are text, because an entry outlives the rows that it names."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.CharField(max_length=36)
    # One of ``Event``. Without ``choices``, so that a new key needs no migration.
    key = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    user_id = models.CharField(max_length=36, null=True)
    application_id = models.CharField(max_length=36, null=True)
    ip = models.CharField(max_length=64)
    user_agent = models.CharField(max_length=512)
    request_id = models.CharField(max_length=36)
    # What else finds the entry: a keyed hash of the typed identifier, for failed sign-ins to an account, or
    # the id of the user whose role or membership changed.
    identifier_key = models.CharField(max_length=80, null=True)
    created_at = models.DateTimeField(db_default=DatabaseNow())

    objects = EntryQuerySet.as_manager()

    class Meta:
        db_table = "audit_entry"
        verbose_name_plural = "entries"
        indexes = [
            models.Index(fields=["tenant_id", "-created_at", "-id"], name="audit_newest_first"),
            models.Index(
                fields=["tenant_id", "user_id", "-created_at", "-id"],
                name="audit_of_user",
                condition=models.Q(user_id__isnull=False),
            ),
            models.Index(fields=["tenant_id", "key", "-created_at", "-id"], name="audit_of_key"),
            models.Index(
                # With the key, so that filters by application and key read only the index.
                fields=["tenant_id", "application_id", "-created_at", "-id", "key"],
                name="audit_of_application",
                condition=models.Q(application_id__isnull=False),
            ),
            models.Index(
                fields=["tenant_id", "identifier_key", "-created_at", "-id"],
                name="audit_of_identifier",
                condition=models.Q(identifier_key__isnull=False),
            ),
            # Of changes, by the row that was changed.
            models.Index(
                "tenant_id",
                KeyTransform("id", "payload"),
                models.F("created_at").desc(),
                models.F("id").desc(),
                name="audit_of_named_id",
                condition=models.Q(payload__has_key="id"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.created_at:%Y-%m-%d %H:%M:%S}"

    def save(self, *args: object, **kwargs: object) -> None:
        """Insert the entry. A second call raises ``AppendOnly``."""
        if not self._state.adding:
            raise AppendOnly
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    def delete(self, *_: object, **__: object) -> NoReturn:
        raise AppendOnly

    @property
    def has_typed_identifier(self) -> bool:
        """Whether somebody typed an identifier, of which ``identifier_key`` is the hash."""
        return self.identifier_key is not None and ids.parse(self.identifier_key) is None


class Retention(models.Model):
    """The number of days that a tenant's entries are kept. Triggers read it too: see ``audit.retention``."""

    tenant_id = models.CharField(primary_key=True, max_length=36)
    days = models.PositiveIntegerField()
    # Set only inside the transaction that deletes entries, never committed.
    at_work = models.BooleanField(default=False)

    class Meta:
        db_table = "audit_retention"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.days} days"


class CountWatermark(models.Model):
    """The number of a tenant's entries before a point in time, the watermark. See ``audit.counting``."""

    tenant_id = models.CharField(primary_key=True, max_length=36)
    watermark = models.DateTimeField(db_column="before")
    entries = models.BigIntegerField()

    class Meta:
        db_table = "audit_counted"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.entries} before {self.watermark}"


class CountSegment(models.Model):
    """The number of a tenant's entries since the end of the previous segment and before ``end``."""

    pk = models.CompositePrimaryKey("tenant_id", "end")
    tenant_id = models.CharField(max_length=36)
    end = models.DateTimeField(db_column="before")
    entries = models.BigIntegerField()

    class Meta:
        db_table = "audit_stretch"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.entries} until {self.end}"


class DayCount(models.Model):
    """The numbers of a tenant's sign-ins, registrations and tokens of one UTC day. See ``audit.daily``."""

    pk = models.CompositePrimaryKey("tenant_id", "day")
    tenant_id = models.CharField(max_length=36)
    day = models.DateField()
    # A list of [key, whether it failed, grant type, application id, number].
    numbers = models.JSONField()
    active_users = models.PositiveIntegerField()
    is_cut = models.BooleanField()

    class Meta:
        db_table = "audit_day"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.day}"
