"""What a dangerous operation on a row would end, delete and detach. Nothing is changed to find out.

An app imports no app above it. So each app declares in ``impacts`` which of its rows are lost with a row of
an app below, and ``settings.IMPACTS`` names the declarations by dotted path.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db.models import Count, Model, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.formats import number_format
from django.utils.module_loading import import_string

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

MOST: Final = 1_000  # rows are counted up to this number


class Verb(StrEnum):
    """What happens to rows."""

    END = "end"
    DELETE = "delete"
    DETACH = "detach"


@dataclass(frozen=True, slots=True)
class Loss:
    """A kind of rows that is lost with a row of ``model``.

    ``find`` returns these rows. ``text`` says what happens to them. The text is marked with
    ``ngettext_lazy(…, "count")``, and ``%(number)s`` stands for their number.
    """

    model: str
    verb: Verb
    kind: str
    find: Callable[[Any], QuerySet[Any]]
    text: "_StrPromise"

    def describe(self, number: int) -> str:
        """Return a sentence without its full stop, such as "12 users lose the role"."""
        shown = number_format(min(number, MOST), force_grouping=True)
        return self.text % {"count": number, "number": f"{shown}+" if number > MOST else shown}


@dataclass(frozen=True, slots=True)
class Impact:
    """The numbers of rows by kind, at most ``MOST`` + 1 of each, which means more than ``MOST``.

    ``tokens_valid_until`` is when the last of the tokens that become invalid would have expired.
    """

    end: Mapping[str, int] = field(default_factory=dict)
    delete: Mapping[str, int] = field(default_factory=dict)
    detach: Mapping[str, int] = field(default_factory=dict)
    tokens_valid_until: datetime | None = None
    sentences: tuple[str, ...] = ()


@cache
def get_losses() -> tuple[Loss, ...]:
    """Return all declarations, in the order in which they are shown."""
    return tuple(loss for path in settings.IMPACTS for loss in import_string(path))


def measure(row: Model, *verbs: Verb) -> Impact:
    """Return the impact of deleting a row, or of an operation that does only what ``verbs`` say."""
    losses = _get_losses(row, verbs)
    return _build([(loss, loss.find(row).order_by()[: MOST + 1].count()) for loss in losses])


def _get_losses(row: Model, verbs: tuple[Verb, ...]) -> list[Loss]:
    return [
        loss for loss in get_losses() if loss.model == row._meta.label and (not verbs or loss.verb in verbs)
    ]


def _build(counted: list[tuple[Loss, int]]) -> Impact:
    numbers: dict[Verb, dict[str, int]] = {verb: {} for verb in Verb}
    for loss, number in counted:
        if number:
            numbers[loss.verb][loss.kind] = number
    end, delete, detach = (numbers[verb] for verb in Verb)
    sentences = tuple(loss.describe(number) for loss, number in counted if number)
    return Impact(end, delete, detach, sentences=sentences)


def measure_end(row: Model) -> Impact:
    """Return the impact of an operation that ends sessions and tokens and deletes nothing."""
    return measure(row, Verb.END)


_VERBS: Final = {measure: (), measure_end: (Verb.END,)}


def measure_all(rows: Sequence[Model], measured: Callable[[Any], Impact] | None) -> Impact | None:
    """Return the sum of the impacts of an operation on rows of one model, in one statement.

    ``measured`` is the operation's function. Return None if it is neither ``measure`` nor ``measure_end``.
    """
    if measured not in _VERBS or not rows:
        return None
    losses = _get_losses(rows[0], _VERBS[measured])
    if not losses:
        return Impact()
    names = [f"loss_{place}" for place in range(len(losses))]
    selected = type(rows[0])._default_manager.filter(pk__in=[row.pk for row in rows]).order_by()
    counted = selected.annotate(**dict(zip(names, map(_count, losses), strict=True)))
    totals = counted.aggregate(**{f"{name}_total": Sum(name) for name in names})
    numbers = [min(totals[f"{name}_total"] or 0, MOST + 1) for name in names]
    return _build(list(zip(losses, numbers, strict=True)))


def _count(loss: Loss) -> Coalesce:
    """Return the number of rows that each row of a query would lose."""
    found = loss.find(OuterRef("pk")).order_by().annotate(_all=Value(1)).values("_all")
    return Coalesce(Subquery(found.annotate(_number=Count("*")).values("_number")), 0)
