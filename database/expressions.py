"""Expressions that Django does not have."""

from django.db.models import F, Value
from django.db.models.functions import Coalesce, Least


def at_most(column: str, most: int) -> Least:
    """Return the value of a column, or ``most`` if the column is null or larger."""
    return Least(Coalesce(F(column), Value(most)), Value(most))
