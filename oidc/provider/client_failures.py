"""Refused token and revocation requests, which are counted and recorded in the audit log."""

from typing import Any

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.failures import Failure


def record(event: Event, error: str, *, client_id: str, is_client_proven: bool = False, **facts: Any) -> None:
    """Record a refused request, and count it unless its client was authenticated.

    Raises:
        limits.TooMany: there were too many, from this address or for this client at this address. It
            replaces only a refusal; a request that succeeds is never counted.

    """
    facts |= {"result": "failed", "error": error, "client_id": client_id}
    if is_client_proven:
        log.record(event, **facts)
        return
    failure = Failure(rules.TOKEN_FAILURES, recorded=rules.TOKEN_FAILURES_RECORDED)
    if failure.claim_entry():
        log.record(event, **(facts | failure.facts))
    failure.check()
    if error == "invalid_client":
        # Known and unknown clients are counted alike, so that the limit does not reveal which exist.
        limits.hit((rules.CLIENT_FAILURES, f"{client_id} {limits.client_network()}"))
