"""The secrets of applications: up to five that have not expired, so that one is replaced without an outage.

The first secret is in the application's row, and has the application's id. Further secrets have rows of their
own, which are read only when a presented secret is not the first one.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database.clock import DatabaseNow
from database.parameters import Parameter
from identity.core import audit_facts
from identity.core.errors import Invalid, ServiceError
from identity.core.records import Gone
from identity.core.tenant_statements import Select, uuid
from identity.encryption import keyring
from identity.rest.fields import timestamp
from oidc.applications import management_access
from oidc.applications.models import Application, ApplicationSecret

PURPOSE: Final = "client secrets"
_MAX_UNEXPIRED: Final = 5
_UNEXPIRED: Final = Q(expires_at=None) | Q(expires_at__gt=DatabaseNow())
_unexpired_secrets: Final = Select(
    lambda: ApplicationSecret.objects.filter(_UNEXPIRED, application=uuid("application_id")).order_by("pk")
)


class TooManySecrets(ServiceError):
    """The application has five secrets that have not expired."""

    reason = "too_many_secrets"
    message = gettext_noop("the application has five secrets that have not expired: delete one first")


class NotConfidential(ServiceError):
    """The application runs where it cannot keep a secret."""

    reason = "not_confidential"
    message = gettext_noop(
        "SPA and Native applications get no further secrets, because they cannot keep them"
    )


class LastSecret(ServiceError):
    """Without the secret, the application could not authenticate."""

    reason = "last_secret"
    message = gettext_noop(
        "this is the only secret of the application that has not expired: create another one first"
    )


class NoSuchSecret(ServiceError):
    """The application has no secret with this id."""

    status = 404
    reason = "secret_not_found"
    message = gettext_noop("secret not found")


def new_secret() -> tuple[str, str]:
    """Return a new secret of 256 random bits and its digest."""
    secret = secrets.token_urlsafe(32)
    return secret, keyring.digest(secret, purpose=PURPOSE)


def find_all(application: Application) -> list[dict[str, Any]]:
    """Return all secrets without their values, newest first. Expired ones are included."""
    columns = ("id", "name", "created_at", "expires_at")
    further = ApplicationSecret.objects.filter(application=application).order_by("-created_at", "-pk")
    found: list[dict[str, Any]] = list(further.values(*columns))
    if application.secret_digest:
        created_at = application.secret_created_at or application.created_at
        found.append({"id": application.pk, "name": "", "created_at": created_at, "expires_at": None})
    return found


@transaction.atomic
def create(
    application: Application, *, name: str = "", expires_at: datetime | None = None, is_proven: bool
) -> tuple[ApplicationSecret, str]:
    """Create a further secret and return its row and its value, which cannot be read again.

    ``is_proven`` is whether the administrator who creates it has signed in recently.

    Raises:
        TokenTooOld: the application can use the management API, and ``is_proven`` is false.
        NotConfidential: the application is of type SPA or Native.
        TooManySecrets: it has five secrets that have not expired.
        Invalid: ``expires_at`` is not in the future.
        Gone: the application was deleted meanwhile.

    """
    if not application.must_present_secret:
        raise NotConfidential
    current = _lock(application)
    management_access.check_secret(current, is_proven=is_proven)
    if _get_unexpired(current).count() + bool(current.secret_digest) >= _MAX_UNEXPIRED:
        raise TooManySecrets
    secret, digest = new_secret()
    row = ApplicationSecret(application=current, name=name, digest=digest, expires_at=expires_at)
    row.save(force_insert=True)
    if not _get_unexpired(current).filter(pk=row.pk).exists():
        raise Invalid("expires_at", gettext_noop("must be in the future"))
    _change(current, has_further_secrets=True)
    facts = audit_facts.new_row_facts(row)
    if expires_at:
        facts["expires_at"] = timestamp(expires_at)
    log.record(Event.APPLICATION_SECRET_CREATE, id=current.pk, secret_id=str(row.pk), name=name, **facts)
    return row, secret


@transaction.atomic
def remove(application: Application, secret_id: UUID) -> None:
    """Delete a secret. It stops working at once.

    The application's row is locked, so that two deletions at once cannot delete the last two secrets.

    Raises:
        NoSuchSecret: the application has no secret with this id.
        LastSecret: the application must present a secret, and all its other secrets have expired.
        Gone: the application was deleted meanwhile.

    """
    current = _lock(application)
    row = ApplicationSecret.objects.filter(application=current, pk=secret_id).first()
    is_first = row is None and secret_id == current.pk and bool(current.secret_digest)
    if row is None and not is_first:
        raise NoSuchSecret
    unexpired = set(_get_unexpired(current).values_list("pk", flat=True))
    if current.secret_digest:
        unexpired.add(current.pk)
    if current.must_present_secret and unexpired == {secret_id}:
        raise LastSecret
    if row is None:
        _change(current, secret_digest="")
    else:
        row.delete()
        _change(current, has_further_secrets=ApplicationSecret.objects.filter(application=current).exists())
    facts: dict[str, Any] = {
        "secret_id": str(secret_id),
        "name": row.name if row else "",
        "fields": ["client_secret"],
    }
    log.record(Event.APPLICATION_SECRET_DELETE, id=current.pk, **facts)


def remove_further(application: Application) -> None:
    """Delete all secrets but the first. The caller has locked the application's row."""
    ApplicationSecret.objects.filter(application=application).delete()


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret of an application. ``row_id`` is None for the first one."""

    digest: str
    row_id: UUID | None = None


def find(application: Application, secret: str) -> StoredSecret | None:
    """Compare a presented secret with the stored digests, each in constant time. Return the one that matches.

    A digest made with an older key of ENCRYPTION_KEYS is renewed, so that the key can be removed. The old
    digest is returned.
    """
    stored = application.secret_digest
    if keyring.matches(secret, stored, purpose=PURPOSE):
        if not keyring.is_current(stored):
            _renew(Application.objects.filter(pk=application.pk), "secret_digest", stored, secret)
        return StoredSecret(stored)
    if not application.has_further_secrets:
        return None
    unexpired = _unexpired_secrets.all(application_id=application.pk)
    # All digests are compared, so that the time does not reveal which one matches.
    matching = [row for row in unexpired if keyring.matches(secret, row.digest, purpose=PURPOSE)]
    for row in matching:
        if not keyring.is_current(row.digest):
            _renew(ApplicationSecret.objects.filter(pk=row.pk), "digest", row.digest, secret)
    return StoredSecret(matching[0].digest, matching[0].pk) if matching else None


def is_valid(application: Application, secret: str) -> bool:
    """Return whether a presented secret is a secret of the application that has not expired."""
    return find(application, secret) is not None


def digest(secret: str) -> str:
    """Return the digest of a presented secret, as a current one is stored."""
    return keyring.digest(secret, purpose=PURPOSE)


def is_stored(row_id: Parameter, digest: Parameter, *, application: str = "pk") -> Exists:
    """Return the condition that an application has a further secret and that it has not expired.

    ``application`` is the column with the id of the application.
    """
    return Exists(
        ApplicationSecret.objects.filter(
            _UNEXPIRED, pk=row_id, digest=digest, application=OuterRef(application)
        )
    )


def _renew(row: QuerySet[Any], column: str, stored: str, secret: str) -> None:
    row.filter(**{column: stored}).update(**{column: keyring.digest(secret, purpose=PURPOSE)})


def _get_unexpired(application: Application) -> QuerySet[ApplicationSecret]:
    return ApplicationSecret.objects.filter(_UNEXPIRED, application=application)


def _lock(application: Application) -> Application:
    current = Application.objects.select_for_update(no_key=True).filter(pk=application.pk).first()
    if current is None:
        raise Gone
    return current


def _change(application: Application, **columns: object) -> None:
    """Set columns, and increment the version, so that no server uses the application that it has cached."""
    Application.objects.filter(pk=application.pk).update(**columns, version=F("version") + 1)
