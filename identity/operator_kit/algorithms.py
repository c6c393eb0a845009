"""The choice of a signature algorithm in forms."""

from identity.core.algorithms import Algorithm


def algorithm_choices(without: str) -> list[tuple[str, str]]:
    """Return the algorithms, after the text for none."""
    return [("", without), *Algorithm.choices]
