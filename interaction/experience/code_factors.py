"""The kinds of addresses whose codes are second factors, named by ``settings.CODE_FACTORS``."""

from identity.users.identifiers import Kind
from interaction.experience import services as experience
from interaction.experience.factor_settings import CHANNELS


def find_kinds() -> frozenset[Kind]:
    """Return the kinds of addresses to which the active tenant sends codes of second factors."""
    factors = experience.current().factor_policy.factors
    return frozenset(kind for factor, kind in CHANNELS.items() if factor in factors)
