"""The redemption of an authorization code: it is used up, and what it was exchanged for is stored."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from audit import log
from audit.models import Entry
from database.statements import AtomicChange
from identity.core.tenant_statements import Update, moment, text, uuid
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


_REDEEM: Final = AtomicChange(_redeem(_unused), log.INSERT)
_REDEEM_FOR_FAMILY: Final = AtomicChange(_redeem(_unused), families.INSERT, log.INSERT)


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


def _get_values(code: AuthorizationCode, issued: IssuedTokens) -> dict[str, Any]:
    return {
        "pk": code.pk,
        "family_id": issued.family.pk if issued.family else None,
        "access_token_id": issued.access_token_id,
        "access_token_expires_at": issued.access_token_expires_at,
    }
