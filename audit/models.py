"""The audit entry. Append-only: here, and by triggers in the database. And how long it is kept."""

from datetime import timedelta
from typing import Final, NoReturn, Self

from django.db import models
from uuid_utils.compat import uuid7

from audit.administrative import hidden_from
from database import ids
from database.clock import DatabaseNow

# What keys signed is read from the log, 30 days back (oidc.keys.usage).
LEAST_DAYS: Final = 31


# A reference says when its request came; a request, and what it leaves to do, is over soon after.
_BEFORE: Final = timedelta(minutes=1)
_AFTER: Final = timedelta(minutes=10)


class AppendOnly(TypeError):
    """The code tried to change or delete what was written down."""


class EntryQuerySet(models.QuerySet["Entry"]):
    """Reads; every write but an insert is refused."""

    def of_request(self, reference: str) -> Self:
        """Return what one request left, in a time that the indexes know; nothing for what is no reference."""
        pk = ids.parse(reference)
        moment = ids.made_at(pk) if pk else None
        if moment is None:
            return self.none()
        begin, end = moment - _BEFORE, moment + _AFTER
        # By time within a tenant, by id, which begins with the time, over all of them.
        around = self.filter(created_at__gte=begin, created_at__lte=end)
        return around.filter(pk__gte=ids.first_at(begin), pk__lte=ids.first_at(end), request_id=reference)

    def visible_to(self, reader: object) -> Self:
        """Return what a caller of the API or of the operators' site may read."""
        hidden = hidden_from(reader)
        return self.exclude(key__in=sorted(hidden)) if hidden else self

    def update(self, **_: object) -> NoReturn:
        """Refuse."""
        raise AppendOnly

    def delete(self) -> NoReturn:
        """Refuse."""
        raise AppendOnly


class Entry(models.Model):
    """One thing that happened. Ids are text: an entry outlives what it speaks of."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant_id = models.CharField(max_length=36)
    # One of Event. Not as choices: a new key is no change of the schema.
    key = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    user_id = models.CharField(max_length=36, null=True)
    application_id = models.CharField(max_length=36, null=True)
    ip = models.CharField(max_length=64)
    user_agent = models.CharField(max_length=512)
    request_id = models.CharField(max_length=36)
    # What was typed as an identifier, as a keyed hash: whose failures these are is found by it.
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
                # The key: so that events of an application are told apart without looking each up.
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
    """A tenant whose entries are not kept for ever. The triggers read it; see ``audit.retention``."""

    tenant_id = models.CharField(primary_key=True, max_length=36)
    days = models.PositiveIntegerField()
    # Set only within the transaction that deletes, never committed.
    at_work = models.BooleanField(default=False)

    class Meta:
        db_table = "audit_retention"
        constraints = [
            models.CheckConstraint(condition=models.Q(days__gte=LEAST_DAYS), name="audit_retention_least"),
        ]

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.days} days"


class Counted(models.Model):
    """How many entries a tenant has from before a moment. See ``audit.counting``."""

    tenant_id = models.CharField(primary_key=True, max_length=36)
    before = models.DateTimeField()
    entries = models.BigIntegerField()

    class Meta:
        db_table = "audit_counted"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.entries} before {self.before}"


class Stretch(models.Model):
    """How many entries a tenant has from the stretch before up to a moment. See ``audit.counting``."""

    pk = models.CompositePrimaryKey("tenant_id", "before")
    tenant_id = models.CharField(max_length=36)
    before = models.DateTimeField()
    entries = models.BigIntegerField()

    class Meta:
        db_table = "audit_stretch"

    def __str__(self) -> str:
        return f"{self.tenant_id}: {self.entries} up to {self.before}"
