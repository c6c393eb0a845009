"""Codes and refresh families of an application that is kept in memory and has not changed."""

from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from database.batching import Work
from identity.core.tenant_statements import Select, number, text, uuid
from oidc.applications import client_secrets
from oidc.applications.client_secrets import StoredSecret
from oidc.applications.models import Application
from oidc.grants import codes, revocations, token_columns
from oidc.grants.codes import FoundCode
from oidc.grants.families import FoundFamily
from oidc.grants.models import AuthorizationCode, RefreshFamily

M = TypeVar("M", bound=Model)

_UNLIMITED: Final = -1


@dataclass(frozen=True, slots=True)
class KnownApplication:
    """An application, and the stored secret with which its client authenticated, or None without one."""

    row: Application
    secret: StoredSecret | None


def find_code(code: str, known: KnownApplication) -> Work[FoundCode | None]:
    """Return a code of the application, redeemed or not, with the known application as its application.

    Return None as ``find_family`` does.
    """
    select = _choose(known, _CODE_WITHOUT_SECRET, _CODE_WITH_FIRST_SECRET, _CODE_WITH_FURTHER_SECRET)
    row = yield from select.find(code_hash=codes.get_hash(code), **_get_values(known))
    if row is None or row.application_id != known.row.pk:
        return None
    row.application = known.row
    return FoundCode.of(row)


def find_family(family_id: UUID, known: KnownApplication) -> Work[FoundFamily | None]:
    """Return a family of the application, with the known application as its ``row.application``.

    Return None if there is no such family of this application, or if the application, its effective lifetimes
    or the secret have changed, or the secret has expired.
    """
    select = _choose(known, _FAMILY_WITHOUT_SECRET, _FAMILY_WITH_FIRST_SECRET, _FAMILY_WITH_FURTHER_SECRET)
    row = yield from select.find(pk=family_id, **_get_values(known))
    if row is None or row.application_id != known.row.pk:
        return None
    row.application = known.row
    return FoundFamily.of(row)


def _choose(
    known: KnownApplication, without: Select[M], with_first: Select[M], with_further: Select[M]
) -> Select[M]:
    if known.secret is None:
        return without
    return with_first if known.secret.row_id is None else with_further


def _get_values(known: KnownApplication) -> dict[str, Any]:
    application, secret = known.row, known.secret
    return {
        "version": application.version,
        "idle": _get_limit(application.effective_refresh_idle_seconds),
        "absolute": _get_limit(application.effective_refresh_absolute_seconds),
        "digest": secret and secret.digest,
        "secret_id": secret and secret.row_id,
    }


def _get_limit(seconds: int | None) -> int:
    return _UNLIMITED if seconds is None else seconds


def _find_codes(has_secret: Q) -> QuerySet[AuthorizationCode]:
    found = _limit_to_known(AuthorizationCode.objects.filter(code_hash=text("code_hash")), has_secret)
    return (
        found.select_related("user", "session")
        .defer(*token_columns.NOT_WITH_CODES)
        .annotate(
            **token_columns.get_signing_keys(),
            is_live=codes.is_live(),
            is_user_at_limit=revocations.is_user_at_limit(),
        )[:1]
    )


def _find_families(has_secret: Q) -> QuerySet[RefreshFamily]:
    found = _limit_to_known(RefreshFamily.objects.filter(pk=uuid("pk")), has_secret)
    return (
        found.select_related("user")
        .defer(*token_columns.NOT_WITH_FAMILIES)
        .annotate(**token_columns.get_signing_keys(), **token_columns.get_state())[:1]
    )


def _limit_to_known(rows: QuerySet[M], has_secret: Q) -> QuerySet[M]:
    """Return the codes or families of applications that are as the known one was.

    The caller compares the id of the application. In the statement, PostgreSQL might use the index of this
    column, and read all codes or families of the application.
    """
    with_limits: Any = rows.alias(
        idle=Coalesce("application__effective_refresh_idle_seconds", Value(_UNLIMITED)),
        absolute=Coalesce("application__effective_refresh_absolute_seconds", Value(_UNLIMITED)),
    )
    found: QuerySet[M] = with_limits.filter(
        has_secret,
        application__version=number("version"),
        idle=number("idle"),
        absolute=number("absolute"),
    )
    return found


def _has_first_secret() -> Q:
    return Q(application__secret_digest=text("digest"))


def _has_further_secret() -> Q:
    return Q(client_secrets.is_stored(uuid("secret_id"), text("digest"), application="application"))


_CODE_WITHOUT_SECRET: Final = Select(lambda: _find_codes(Q()))
_CODE_WITH_FIRST_SECRET: Final = Select(lambda: _find_codes(_has_first_secret()))
_CODE_WITH_FURTHER_SECRET: Final = Select(lambda: _find_codes(_has_further_secret()))
_FAMILY_WITHOUT_SECRET: Final = Select(lambda: _find_families(Q()))
_FAMILY_WITH_FIRST_SECRET: Final = Select(lambda: _find_families(_has_first_secret()))
_FAMILY_WITH_FURTHER_SECRET: Final = Select(lambda: _find_families(_has_further_secret()))
