"""The last expiry of a key's tokens as the audit log has it, for tokens of release 0.1.2 and before.

Nodes of those releases do not write ``SigningKeyUsage``, and may still serve. The next release deletes this
module (docs/releasing.md).
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import BigIntegerField, Max
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


def get_last_expiry(key: SigningKey) -> datetime | None:
    """Return the latest ``exp`` in the audit entries of tokens that the key signed."""
    if key.activated_at is None:
        return None
    longest = max(MAX_TTL, settings.ACCESS_TOKEN_SECONDS, settings.ID_TOKEN_SECONDS)
    since = max(key.activated_at, timezone.now() - timedelta(seconds=longest)) - _SLACK
    entries = Entry.objects.filter(
        tenant_id=tenancy.active_id(), created_at__gte=since, key__in=_ISSUES, payload__kid=str(key.pk)
    )
    if key.retired_at is not None:
        entries = entries.filter(created_at__lte=key.retired_at + _SLACK)
    latest = entries.aggregate(access_token=Max(_exp("access_token_exp")), id_token=Max(_exp("id_token_exp")))
    last = max(latest["access_token"] or 0, latest["id_token"] or 0)
    return datetime.fromtimestamp(last, tz=UTC) if last else None


def _exp(name: str) -> Cast:
    return Cast(KeyTextTransform(name, "payload"), BigIntegerField())
