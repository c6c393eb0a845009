"""The unexpired tokens of a signing key.

Tokens are not stored, but the audit log has an entry for each issue. The entry names the signing key and
the expiry of the tokens, so they can be counted there. Tokens that were revoked, or whose session ended,
are counted too: the number is never too small.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import BigIntegerField, Count, Max, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.resources.models import MAX_TTL
from oidc.keys.models import SigningKey

_ISSUES: Final = (Event.TOKEN_EXCHANGE.value, Event.TOKEN_REFRESH.value)
# Allows for clock skew, and for a request that read the active key just before it was retired.
_SLACK: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of unexpired tokens of a key, and when the last of them expires (null if there is none)."""

    unexpired_tokens: int
    last_expires_at: datetime | None


def build_facts(key_id: UUID, *, access_token_exp: int, id_token_exp: int | None) -> dict[str, Any]:
    """Return the facts of an issue's audit entry that ``get_usage`` reads; ``exp`` is as in the tokens."""
    facts: dict[str, Any] = {"kid": key_id, "access_token_exp": access_token_exp}
    return facts if id_token_exp is None else facts | {"id_token_exp": id_token_exp}


def get_usage(key: SigningKey) -> Usage:
    """Count the unexpired access and ID tokens that a key signed, in one statement."""
    if key.activated_at is None:
        return Usage(0, None)
    now = int(time.time())
    found = (
        _entries(key, key.activated_at)
        .annotate(access=_exp("access_token_exp"), id_token=_exp("id_token_exp"))
        .aggregate(
            access_tokens=Count("pk", filter=Q(access__gt=now)),
            id_tokens=Count("pk", filter=Q(id_token__gt=now)),
            last_access=Max("access"),
            last_id_token=Max("id_token"),
        )
    )
    last = max(found["last_access"] or 0, found["last_id_token"] or 0)
    return Usage(
        unexpired_tokens=found["access_tokens"] + found["id_tokens"],
        last_expires_at=datetime.fromtimestamp(last, tz=UTC) if last > now else None,
    )


def _entries(key: SigningKey, activated_at: datetime) -> QuerySet[Entry]:
    """Return the audit entries of tokens that the key signed and that can still be unexpired."""
    longest = max(MAX_TTL, settings.ACCESS_TOKEN_SECONDS, settings.ID_TOKEN_SECONDS)
    since = max(activated_at, timezone.now() - timedelta(seconds=longest)) - _SLACK
    entries = Entry.objects.filter(tenant_id=tenancy.active_id(), created_at__gte=since)
    if key.retired_at is not None:
        entries = entries.filter(created_at__lte=key.retired_at + _SLACK)
    return entries.filter(key__in=_ISSUES, payload__kid=str(key.pk))


def _exp(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "payload"), BigIntegerField())
