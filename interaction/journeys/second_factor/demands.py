"""What the pending authorization request of a sign-in demands of it."""

from identity.factors.needed import Demands
from interaction.journeys.pending import Pending
from oidc.provider.authorization import demands as of_requests


def find_demands(pending: Pending | None) -> Demands:
    """Return what a pending request demands and wishes for. Without a request, that is nothing."""
    return of_requests.find(pending.authorization) if pending else Demands()
