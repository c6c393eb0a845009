"""Prometheus counters of sign-ins and second factors, counted where their audit entries are written."""

from typing import Final

from prometheus_client import Counter

from identity.factors.kinds import RECOVERY_CODE, FactorType

_PROOFS: Final = Counter("gatehouse_second_factor", "Proofs of second factors.", ["type", "result"])
_SIGN_INS: Final = Counter("gatehouse_sign_ins", "Sign-ins of users, by the level they reached.", ["level"])

# A series that appears only with its first event gives no alarm for this event.
for _kind in (*FactorType, RECOVERY_CODE):
    for _result in ("success", "failed"):
        _PROOFS.labels(str(_kind), _result)
for _level in (1, 2, 3):
    _SIGN_INS.labels(_level)


def count_proof(factor: str, *, is_right: bool) -> None:
    """Count an accepted or refused second factor."""
    _PROOFS.labels(str(factor), "success" if is_right else "failed").inc()


def count_sign_in(level: int) -> None:
    """Count a sign-in that started a session."""
    _SIGN_INS.labels(int(level)).inc()
