"""Filters of lists by parameters of the query string."""

from collections.abc import Callable

from django.db.models import Q

from database import ids

Filter = Callable[[str], Q]


def equals(column: str) -> Filter:
    """Return a filter that compares a column with the value."""
    return lambda value: Q(**{column: value})


def by_id(value: str) -> Q:
    """Filter by id; a malformed id matches nothing."""
    pk = ids.parse(value)
    return Q(pk=pk) if pk else Q(pk__in=[])
