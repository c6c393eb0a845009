"""Which algorithms a tenant has active keys for, and which keys."""

from typing import Any, Final
from uuid import UUID

from database.batching import Work
from identity.core.algorithms import Algorithm
from identity.core.tenant_statements import SelectValues, text
from oidc.keys.models import SigningKey

_OF_ALGORITHM: Final = SelectValues(
    lambda: SigningKey.objects.active().filter(algorithm=text("algorithm")).values_list("pk")
)
_ALGORITHMS: Final = SelectValues(
    lambda: SigningKey.objects.active().values_list("algorithm", "tenant__highest_level")
)


def find_id(algorithm: str) -> Work[UUID | None]:
    """Return the id of the active key of an algorithm, or None if there is none."""
    rows: list[Any] = yield from _OF_ALGORITHM.find_all(algorithm=algorithm)
    return rows[0][0] if rows else None


def get_algorithms() -> list[str]:
    """Return ES256 and the other algorithms that have an active key."""
    return get_algorithms_and_level()[0]


def get_algorithms_and_level() -> tuple[list[str], int]:
    """Return what ``get_algorithms`` does, and the highest level of the tenant's sign-ins, in one query."""
    rows = _ALGORITHMS.all()
    active = {algorithm for algorithm, _ in rows} | {Algorithm.ES256.value}
    level = max((level for _, level in rows), default=1)
    return [algorithm for algorithm in Algorithm.values if algorithm in active], level
