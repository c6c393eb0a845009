"""Numbers as the active language writes them, with Western digits."""

from django.utils.formats import number_format


def format_number(number: float) -> str:
    """Return a number with separators between its thousands."""
    return number_format(number, force_grouping=True)


def format_compactly(number: int) -> str:
    """Return a round number in at most five characters, such as 20k."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return number_format(f"{number / size:g}") + unit
    return str(number)
