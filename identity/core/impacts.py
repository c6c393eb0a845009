"""What a dangerous operation on a row would end, delete and detach. Nothing is changed to find out.

An app imports no app above it. So each app declares in ``impacts`` what its rows lose with the rows of apps
below, and ``settings.IMPACTS`` names the declarations by dotted path.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils.module_loading import import_string

MOST: Final = 1_000  # rows are counted up to this number


class Verb(StrEnum):
    """What happens to rows."""

    END = "end"
    DELETE = "delete"
    DETACH = "detach"


@dataclass(frozen=True, slots=True)
class Loss:
    """A kind of rows that is lost with a row of ``model``.

    ``find`` returns these rows. ``one`` and ``many`` say what happens to one of them and to several, without
    the number.
    """

    model: str
    verb: Verb
    kind: str
    find: Callable[[Any], QuerySet[Any]]
    one: str
    many: str

    def describe(self, number: int) -> str:
        """Return a sentence without its full stop, such as "12 users lose the role"."""
        if number == 1:
            return f"1 {self.one}"
        return f"More than {MOST:,} {self.many}" if number > MOST else f"{number:,} {self.many}"


@dataclass(frozen=True, slots=True)
class Impact:
    """The numbers of rows by kind, at most ``MOST`` + 1 of each, which means more than ``MOST``.

    ``tokens_valid_until`` is when the last token would expire that is refused from now on.
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
    numbers: dict[Verb, dict[str, int]] = {verb: {} for verb in Verb}
    sentences = []
    for loss in get_losses():
        if loss.model == row._meta.label and (not verbs or loss.verb in verbs):
            number = loss.find(row).order_by()[: MOST + 1].count()
            if number:
                numbers[loss.verb][loss.kind] = number
                sentences.append(loss.describe(number))
    end, delete, detach = (numbers[verb] for verb in Verb)
    return Impact(end, delete, detach, sentences=tuple(sentences))


def measure_end(row: Model) -> Impact:
    """Return the impact of an operation that ends sessions and tokens and deletes nothing."""
    return measure(row, Verb.END)
