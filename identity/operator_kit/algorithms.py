"""The choice of a signature algorithm in forms."""

from identity.core.algorithms import Algorithm
from identity.operator_kit.texts import Text


def algorithm_choices(without: Text) -> list[tuple[str, Text]]:
    """Return the algorithms, after the text for none."""
    return [("", without), *Algorithm.choices]
