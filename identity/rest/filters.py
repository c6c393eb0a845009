"""Filters of lists by parameters of the query string."""

from collections.abc import Callable
from functools import reduce
from operator import or_

from django.db.models import Q

from database import ids

Filter = Callable[[str], Q]


def equals(column: str) -> Filter:
    """Return a filter that compares a column with the value."""
    return lambda value: Q(**{column: value})


def contains(*columns: str) -> Filter:
    """Return a filter for the rows that have the value in one of the columns, in upper or lower case."""
    return lambda value: reduce(or_, (Q(**{f"{column}__icontains": value}) for column in columns))


def by_id(value: str) -> Q:
    """Filter by id; a malformed id matches nothing."""
    pk = ids.parse(value)
    return Q(pk=pk) if pk else Q(pk__in=[])
