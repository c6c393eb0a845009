"""Wrong codes, counted for each identifier and for the tenant. After too many, codes are longer."""

from typing import Final

from prometheus_client import Counter

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.rules import Limit
from identity.users.identifiers import Kind
from interaction.verification import recipients

_ALARMS: Final = Counter(
    "gatehouse_wrong_code_alarms", "Hours in which a tenant's budget of wrong codes was used up."
)


def record(kind: Kind, key: str) -> None:
    """Count a wrong code, and record an alarm when the tenant's budget is used up, at most once an hour.

    Identifiers that no user has count too.
    """
    limits.increment(*_of_identifier(kind, key))
    in_tenant = limits.increment(rules.TENANT_WRONG_CODES, "")
    if in_tenant.count == rules.TENANT_WRONG_CODES.max_hits:
        _ALARMS.inc()
        log.record(Event.CODE_ALARM, count=in_tenant.count, seconds=rules.TENANT_WRONG_CODES.seconds)


def has_long_codes(kind: Kind, key: str) -> bool:
    """Return whether codes are long, because the budget of the identifier or the tenant is used up."""
    return not limits.test(_of_identifier(kind, key), (rules.TENANT_WRONG_CODES, ""))


def _of_identifier(kind: Kind, key: str) -> tuple[Limit, str]:
    return rules.IDENTIFIER_WRONG_CODES, f"{kind} {recipients.limit_key_of(kind, key)}"
