"""Refresh families of an application that is kept in memory and has not changed since it was read."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Coalesce

from database.together import Work
from identity.core.tenant_statements import Select, number, text, uuid
from oidc.applications import client_secrets
from oidc.applications.client_secrets import StoredSecret
from oidc.applications.models import Application
from oidc.grants import token_columns
from oidc.grants.families import FoundFamily
from oidc.grants.models import RefreshFamily

_UNLIMITED: Final = -1
# Columns that matter only to ``is_live`` and ``in_grace``, and columns of users that no token has.
_NOT_READ: Final = (
    *("updated_at", "rotated_at", "idle_expires_at", "expires_at", "ended_at", "end_reason"),
    *token_columns.OF_USERS_NOT_WITH_FAMILIES,
    *(f"user__{column}" for column in ("version", "email_proven", "phone_proven", "self_registered")),
)


@dataclass(frozen=True, slots=True)
class KnownApplication:
    """An application, and the stored secret with which its client authenticated, or None without one."""

    row: Application
    secret: StoredSecret | None


def find_family(family_id: UUID, known: KnownApplication) -> Work[FoundFamily | None]:
    """Return a family of the application, with the known application as its ``row.application``.

    Return None if there is no such family of this application, or if the application, its effective lifetimes
    or the secret have changed, or the secret has expired.
    """
    application, secret = known.row, known.secret
    row = yield from _choose(secret).find(
        pk=family_id,
        application_id=application.pk,
        version=application.version,
        idle=_get_limit(application.effective_refresh_idle_seconds),
        absolute=_get_limit(application.effective_refresh_absolute_seconds),
        digest=secret and secret.digest,
        secret_id=secret and secret.row_id,
    )
    if row is None:
        return None
    row.application = application
    return FoundFamily.of(row)


def _choose(secret: StoredSecret | None) -> Select[RefreshFamily]:
    if secret is None:
        return _WITHOUT_SECRET
    return _WITH_FIRST_SECRET if secret.row_id is None else _WITH_FURTHER_SECRET


def _get_limit(seconds: int | None) -> int:
    return _UNLIMITED if seconds is None else seconds


def _build_query(has_secret: Q) -> QuerySet[RefreshFamily]:
    return (
        RefreshFamily.objects.filter(
            has_secret,
            pk=uuid("pk"),
            application=uuid("application_id"),
            application__version=number("version"),
        )
        .alias(
            idle=Coalesce("application__effective_refresh_idle_seconds", Value(_UNLIMITED)),
            absolute=Coalesce("application__effective_refresh_absolute_seconds", Value(_UNLIMITED)),
        )
        .filter(idle=number("idle"), absolute=number("absolute"))
        .select_related("user")
        .defer(*_NOT_READ)
        .annotate(**token_columns.get_signing_keys(), **token_columns.get_state())[:1]
    )


def _has_further_secret() -> Q:
    return Q(client_secrets.is_stored(uuid("secret_id"), text("digest"), application="application"))


_WITHOUT_SECRET: Final = Select(lambda: _build_query(Q()))
_WITH_FIRST_SECRET: Final = Select(lambda: _build_query(Q(application__secret_digest=text("digest"))))
_WITH_FURTHER_SECRET: Final = Select(lambda: _build_query(_has_further_secret()))
