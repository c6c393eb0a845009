"""Audit entries, which are append-only here and by triggers in the database, and their retention."""

from datetime import timedelta
from typing import Final, NoReturn, Self

from django.db import models
from uuid_utils.compat import uuid7

from audit.administrative import hidden_from
from database import ids
from database.clock import DatabaseNow

# oidc.keys.usage reads from the log what keys signed in the last 30 days.
LEAST_DAYS: Final = 31


# A request id contains the time of the request. Its entries are written soon after.
_BEFORE: Final = timedelta(minutes=1)
_AFTER: Final = timedelta(minutes=10)


class AppendOnly(TypeError):
    """The code tried to change or delete an entry."""


class EntryQuerySet(models.QuerySet["Entry"]):
    """Allows reads and inserts only."""

    def of_request(self, reference: str) -> Self:
        """Return the entries of a request, found by its time; none if the reference is invalid."""
        pk = ids.parse(reference)
        moment = ids.made_at(pk) if pk else None
        if moment is None:
            return self.none()
        begin, end = moment - _BEFORE, moment + _AFTER
        # By time for one tenant's index; by id, which begins with the time, for all tenants.
        around = self.filter(created_at__gte=begin, created_at__lte=end)
        return around.filter(pk__gte=ids.first_at(begin), pk__lte=ids.first_at(end), request_id=reference)

    def visible_to(self, reader: object) -> Self:
        """Return the entries that a reader in the API or the console may see."""
        hidden = hidden_from(reader)
        return self.exclude(key__in=sorted(hidden)) if hidden else self

    def update(self, **_: object) -> NoReturn:
        """Refuse."""
        raise AppendOnly

    def delete(self) -> NoReturn:
        """Refuse."""
        raise AppendOnly


class Entry(models.Model):
    """An audit entry. Ids are text, because an entry outlives the rows that it names."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.CharField(max_length=36)
    # One of Event. Not as choices, so a new key needs no migration.
    key = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    user_id = models.CharField(max_length=36, null=True)
    application_id = models.CharField(max_length=36, null=True)
    ip = models.CharField(max_length=64)
    user_agent = models.CharField(max_length=512)
    request_id = models.CharField(max_length=36)
    # A keyed hash of the identifier that was typed, by which failures of an account are found.
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
                # With the key, so that events of an application are filtered in the index.
                fields=["tenant_id", "application_id", "-created_at", "-id", "key"],
                name="audit_of_application",
                condition=models.Q(application_id__isnull=False),
            ),
            models.Index(
                fields=["tenant_id", "identifier_key", "-created_at", "-id"],
                name="audit_of_identifier",
                condition=models.Q(identifier_key__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.created_at:%Y-%m-%d %H:%M:%S}"

    def save(self, *args: object, **kwargs: object) -> None:
        """Insert. A second save is refused."""
        if not self._state.adding:
            raise AppendOnly
        kwargs["force_insert"] = True
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    def delete(self, *_: object, **__: object) -> NoReturn:
        """Refuse."""
        raise AppendOnly


class Retention(models.Model):
    """How long a tenant's entries are kept, unless forever. Read by the triggers; see ``audit.retention``."""

    tenant_id = models.CharField(primary_key=True, max_length=36)
    days = models.PositiveIntegerField()
    # Set only inside the transaction that deletes entries, never committed.
    at_work = models.BooleanField(default=False)

    class Meta:
        db_table = "audit_retention"
        constraints = [
            models.CheckConstraint(condition=models.Q(days__gte=LEAST_DAYS), name="audit_retention_least"),
        ]

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
