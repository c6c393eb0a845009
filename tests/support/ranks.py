"""Whether two sets of measurements differ, by their ranks alone: Mann and Whitney 1947."""

import math
from collections.abc import Sequence


def deviation(first: Sequence[float], second: Sequence[float]) -> float:
    """How many standard deviations the first lie above the second, where both should be alike.

    The normal approximation, good from some ten values each; of values that are equal to the last digit
    there are too few to matter.
    """
    ranked = sorted([(value, 0) for value in first] + [(value, 1) for value in second])
    ranks = sum(rank for rank, (_, group) in enumerate(ranked, start=1) if group == 0)
    size, other = len(first), len(second)
    u = ranks - size * (size + 1) / 2
    return (u - size * other / 2) / math.sqrt(size * other * (size + other + 1) / 12)
