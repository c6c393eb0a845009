"""The kinds of addresses whose codes are second factors, named by ``settings.CODE_FACTORS``."""

from identity.factors.kinds import ADDRESS_OF_FACTOR
from identity.users.identifiers import Kind
from interaction.experience import services as experience


def find_kinds() -> frozenset[Kind]:
    """Return the kinds of addresses to which the active tenant sends codes of second factors."""
    factors = experience.current().factor_policy.factors
    return frozenset(kind for factor, kind in ADDRESS_OF_FACTOR.items() if factor in factors)
