"""Filters of lists: what the value of a query parameter looks for."""

from collections.abc import Callable

from django.db.models import Q

from database import ids

Filter = Callable[[str], Q]


def exactly(column: str) -> Filter:
    """Filter by the value of a column."""
    return lambda value: Q(**{column: value})


def by_id(value: str) -> Q:
    """Filter by id; what is no id matches nothing."""
    pk = ids.parse(value)
    return Q(pk=pk) if pk else Q(pk__in=[])
