"""Token and revocation requests that were refused: counted, and recorded in the audit log."""

from oauthlib.common import Request

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.failures import Failure


def record(event: Event, request: Request | None, *, error: str, **facts: object) -> None:
    """Record a refused request, and count it unless its client was proven: nobody else can make that one.

    Raises:
        limits.TooMany: there were too many, from this address or for this client at this address. It
            replaces the refusal alone; a request that succeeds is never counted.

    """
    if getattr(request, "is_client_proven", False):
        log.record(event, result="failed", error=error, **facts)  # type: ignore[arg-type]  # facts of ours
        return
    failure = Failure(rules.TOKEN_FAILURES, recorded=rules.TOKEN_FAILURES_RECORDED)
    if failure.is_recorded():
        log.record(event, result="failed", error=error, **facts, **failure.facts)  # type: ignore[arg-type]  # as above
    failure.check()
    if error == "invalid_client":
        # Known and unknown clients are counted alike, so that a count tells nothing.
        limits.take((rules.CLIENT_FAILURES, f"{facts['client_id']} {limits.client_network()}"))
