"""Filters of lists by query parameters."""

from collections.abc import Callable

from django.db.models import Q

from database import ids

Filter = Callable[[str], Q]


def exactly(column: str) -> Filter:
    """Filter by the value of a column."""
    return lambda value: Q(**{column: value})


def by_id(value: str) -> Q:
    """Filter by id; a malformed id matches nothing."""
    pk = ids.parse(value)
    return Q(pk=pk) if pk else Q(pk__in=[])
