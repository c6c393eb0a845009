"""Counting and recording of token and revocation requests that fail."""

from typing import Any

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.failures import Failure


def record(event: Event, error: str, *, client_id: str, is_client_proven: bool = False, **facts: Any) -> None:
    """Record a failed request in the audit log, and count it unless the client proved its identity.

    Raises:
        limits.TooMany: too many requests failed from this network, or for this client from this network.
            A request that succeeds is never counted or limited.

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
