"""The check that the triggers which update ``User.factors`` exist."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, register

from identity.factors import triggers


@register("doctor")
def factors_are_kept(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return an error if a trigger is missing from the tables of factors."""
    return triggers.FACTORS.errors(databases)
