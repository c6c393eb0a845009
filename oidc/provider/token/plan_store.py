"""The plans of this process, by tenant and client."""

import hmac
import threading
from typing import Final, Protocol

from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from oidc.applications import client_secrets
from oidc.provider.token.repeated import SentRequest

_MOST_CLIENTS: Final = 4_096  # with plans of 3 KB each, and at most 14 KB
_MOST_OF_CLIENT: Final = 4  # so that a client with many different requests leaves the plans of others alone
NO_SECRET: Final = ""  # in the place of a digest


class Plan(Protocol):
    """A plan for requests with this form and with the secret of this digest."""

    @property
    def form(self) -> bytes:
        """That of ``SentRequest``."""

    @property
    def secret_digest(self) -> str:
        """The digest that is stored, or ``NO_SECRET`` for requests without a secret."""


# By tenant with its slug, because the issuer follows from the slug, and by client id.
Key = tuple[ActiveTenant, str]
_plans: Final[dict[Key, tuple[Plan, ...]]] = {}
_lock: Final = threading.Lock()


def find(sent: SentRequest) -> Plan | None:
    """Return the active tenant's plan for a request with a valid secret, or None."""
    plans = _plans.get(_get_key(sent))
    if plans is None:
        return None
    digest = client_secrets.digest(sent.secret) if sent.secret else NO_SECRET
    found = None
    for plan in plans:  # all of them, in constant time
        is_same = hmac.compare_digest(plan.secret_digest, digest)
        if is_same and plan.form == sent.form:
            found = plan
    return found


def store(plan: Plan, sent: SentRequest) -> None:
    """Store the active tenant's plan for requests like this one, in the place of an earlier one."""
    key = _get_key(sent)
    with _lock:
        others = [old for old in _plans.pop(key, ()) if not _has_same_request(old, plan)]
        if len(_plans) >= _MOST_CLIENTS:
            del _plans[next(iter(_plans))]  # the one that was stored first
        _plans[key] = (*others[1 - _MOST_OF_CLIENT :], plan)


def delete(plan: Plan, sent: SentRequest) -> None:
    """Delete the active tenant's plan for a request."""
    key = _get_key(sent)
    with _lock:
        if others := tuple(other for other in _plans.pop(key, ()) if other is not plan):
            _plans[key] = others


def _get_key(sent: SentRequest) -> Key:
    return tenancy.active(), sent.client_id


def _has_same_request(old: Plan, new: Plan) -> bool:
    return (old.form, old.secret_digest) == (new.form, new.secret_digest)
