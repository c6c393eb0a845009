"""The plans of this process, by tenant and client.

They take at most 16 MiB. When there is no more room, the tenant whose plans take most of it loses the plans
of the client that got its last one first. So a tenant can displace no plan of one that has less.
"""

import hmac
import threading
from typing import Any, Final, Protocol

from identity.core import memory, tenancy
from identity.core.tenancy import ActiveTenant
from oidc.applications import client_secrets
from oidc.provider.token.raw_request import RawTokenRequest

_MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_BYTES_OF_PLAN: Final = 16 * 1024
_MOST_OF_CLIENT: Final = 4  # so that a client with many different requests leaves the plans of others alone
NO_SECRET: Final = ""  # in the place of a digest


class Plan(Protocol):
    """A plan for requests with this form and with the secret of this digest."""

    @property
    def form(self) -> bytes:
        """That of ``RawTokenRequest``."""

    @property
    def secret_digest(self) -> str:
        """The digest that is stored, or ``NO_SECRET`` for requests without a secret."""

    @property
    def size(self) -> int:
        """What ``measure`` returned for all that the plan alone keeps."""


class Plans:
    """The plans of each client and the bytes that those of each tenant take."""

    def __init__(self) -> None:
        # A tenant has its slug, because the issuer follows from the slug. The clients that got their last
        # plan first come first.
        self.of_tenants: Final[dict[ActiveTenant, dict[str, tuple[Plan, ...]]]] = {}
        self._sizes: Final[dict[ActiveTenant, int]] = {}
        self.size = 0

    def get(self, tenant: ActiveTenant, client_id: str) -> tuple[Plan, ...]:
        """Return the plans of a client."""
        clients = self.of_tenants.get(tenant)
        return clients.get(client_id, ()) if clients else ()

    def replace(self, tenant: ActiveTenant, client_id: str, plans: tuple[Plan, ...]) -> None:
        """Replace the plans of a client."""
        clients = self.of_tenants.setdefault(tenant, {})
        change = _get_size(plans) - _get_size(clients.pop(client_id, ()))
        if plans:
            clients[client_id] = plans
        self.size += change
        self._sizes[tenant] = self._sizes.get(tenant, 0) + change
        if not clients:
            del self.of_tenants[tenant], self._sizes[tenant]

    def make_room(self) -> None:
        """Delete plans of the tenants whose plans take most memory, until all take at most 16 MiB."""
        while self.size > _MOST_BYTES:
            tenant = max(self._sizes, key=self._sizes.__getitem__)
            self.replace(tenant, next(iter(self.of_tenants[tenant])), ())


def _get_size(plans: tuple[Plan, ...]) -> int:
    return sum(plan.size for plan in plans)


_plans: Final = Plans()
_lock: Final = threading.Lock()


def measure(*values: Any) -> int:
    """Return the bytes that values take. If they are more than a plan may take, it is any such number."""
    return memory.get_size(*values, limit=_MOST_BYTES_OF_PLAN)


def find(sent: RawTokenRequest) -> Plan | None:
    """Return the active tenant's plan for a request with a valid secret, or None."""
    plans = _plans.get(tenancy.active(), sent.client_id)
    if not plans:
        return None
    digest = client_secrets.digest(sent.secret) if sent.secret else NO_SECRET
    found = None
    for plan in plans:  # all of them, in constant time
        is_same = hmac.compare_digest(plan.secret_digest, digest)
        if is_same and plan.form == sent.form:
            found = plan
    return found


def store(plan: Plan, sent: RawTokenRequest) -> None:
    """Store the active tenant's plan for requests like this one, in the place of an earlier one.

    A plan of more than 16 KiB is not stored, and the earlier one is deleted.
    """
    tenant = tenancy.active()
    with _lock:
        old = _plans.get(tenant, sent.client_id)
        plans = [other for other in old if not _has_same_request(other, plan)]
        if plan.size <= _MOST_BYTES_OF_PLAN:
            plans = [*plans[1 - _MOST_OF_CLIENT :], plan]
        _plans.replace(tenant, sent.client_id, tuple(plans))
        _plans.make_room()


def delete(plan: Plan, sent: RawTokenRequest) -> None:
    """Delete the active tenant's plan for a request."""
    tenant = tenancy.active()
    with _lock:
        others = tuple(other for other in _plans.get(tenant, sent.client_id) if other is not plan)
        _plans.replace(tenant, sent.client_id, others)


def _has_same_request(old: Plan, new: Plan) -> bool:
    return (old.form, old.secret_digest) == (new.form, new.secret_digest)
