"""The redemption of an authorization code: it is used up, and what it was exchanged for is stored."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.db.models.functions import Now

from audit import log
from audit.models import Entry
from database.batching import Work
from database.locking_conditions import ExistsUnchanged, ExistsUndeleted
from database.statements import AtomicChange
from identity.core.tenant_statements import Update, moment, text, uuid
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import families, remembered
from oidc.grants.models import AuthorizationCode, RefreshFamily


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """What a code is exchanged for, as it is stored with the code, so that a second use can revoke it."""

    access_token_id: str
    access_token_expires_at: datetime
    family: RefreshFamily | None = None


def _redeem(unused: Callable[[], QuerySet[AuthorizationCode]]) -> Update:
    return Update(
        unused,
        consumed_at=Now(),
        family_id=uuid("family_id"),
        access_token_id=text("access_token_id"),
        access_token_expires_at=moment("access_token_expires_at"),
    )


def _unused() -> QuerySet[AuthorizationCode]:
    return AuthorizationCode.objects.filter(pk=uuid("pk"), consumed_at=None)


# The subquery locks the row or skips it, so the UPDATE never waits.
def _unused_if_free() -> QuerySet[AuthorizationCode]:
    free = AuthorizationCode.objects.filter(pk=uuid("pk")).select_for_update(skip_locked=True)
    return _unused().filter(pk__in=free.values("pk"))


# The commit checks the foreign keys of the family, which waits for a deletion of one of these rows.
def _unused_if_all_free() -> QuerySet[AuthorizationCode]:
    return _unused_if_free().filter(
        ExistsUndeleted(User.objects.filter(pk=OuterRef("user"))),
        ExistsUndeleted(Application.objects.filter(pk=OuterRef("application"))),
        ExistsUndeleted(Tenant.objects.filter(pk=OuterRef("tenant"))),
    )


# A browser that is forgotten meanwhile waits for this transaction: see ``remembered.is_remembered``.
def _unused_if_all_free_and_remembered() -> QuerySet[AuthorizationCode]:
    sessions = Session.objects.filter(pk=OuterRef("session"), remembered=True)
    return _unused_if_all_free().filter(ExistsUnchanged(sessions), remembered=True)


_REDEEM: Final = AtomicChange(_redeem(_unused), log.INSERT)
_REDEEM_FOR_FAMILY: Final = AtomicChange(_redeem(_unused), families.INSERT, log.INSERT)
# These never wait for the lock of a row, so they can be executed together with redemptions of other codes.
_REDEEM_IF_FREE: Final = AtomicChange(_redeem(_unused_if_free), log.INSERT)
_REDEEM_FOR_FAMILY_IF_FREE: Final = AtomicChange(_redeem(_unused_if_all_free), families.INSERT, log.INSERT)
_REDEEM_FOR_REMEMBERED_FAMILY_IF_FREE: Final = AtomicChange(
    _redeem(_unused_if_all_free_and_remembered), families.INSERT, log.INSERT
)


def redeem(code: AuthorizationCode, issued: IssuedTokens, entry: Entry) -> bool:
    """Redeem a code and write the audit entry atomically. Return false if it was already redeemed.

    A family counts as that of a remembered browser only if the browser was not forgotten meanwhile.
    """
    values, family = _get_values(code, issued), issued.family
    if family is None:
        is_redeemed = _REDEEM(values, entry)
    elif family.remembered:
        with transaction.atomic():
            family.remembered = remembered.is_remembered(code)
            is_redeemed = _REDEEM_FOR_FAMILY(values, family, entry)
    else:
        is_redeemed = _REDEEM_FOR_FAMILY(values, family, entry)
    if is_redeemed:
        log.count(entry)
    return is_redeemed


def redeem_if_free(code: AuthorizationCode, issued: IssuedTokens, entry: Entry) -> Work[bool]:
    """Do what ``redeem`` does, but return false, too, if it would have to wait.

    That is so if another request is changing the code, or deleting its user, application or tenant. For the
    family of a remembered browser, it is also so if another request is changing the session. If the browser
    was forgotten meanwhile, this returns false, too.
    """
    values, family = _get_values(code, issued), issued.family
    if family is None:
        outcome = yield _REDEEM_IF_FREE.call(values, entry)
    elif family.remembered:
        outcome = yield _REDEEM_FOR_REMEMBERED_FAMILY_IF_FREE.call(values, family, entry)
    else:
        outcome = yield _REDEEM_FOR_FAMILY_IF_FREE.call(values, family, entry)
    is_redeemed = bool(outcome.count)
    if is_redeemed:
        log.count(entry)
    return is_redeemed


def _get_values(code: AuthorizationCode, issued: IssuedTokens) -> dict[str, Any]:
    return {
        "pk": code.pk,
        "family_id": issued.family.pk if issued.family else None,
        "access_token_id": issued.access_token_id,
        "access_token_expires_at": issued.access_token_expires_at,
    }
