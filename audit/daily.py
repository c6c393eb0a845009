"""The numbers of sign-ins, registrations and tokens of each UTC day, without reading the whole log each time.

A day that has ended is counted once and stored (``DayCount``), because entries do not change. The current day
is counted each time, and in its first hour the day before, too. Of the ended days, a call counts at most
``MAX_ENTRIES`` entries, newest days first; later calls count the rest. In a day with more entries, only the
newest ``MAX_ENTRIES`` count. Trials of a sign-in by administrators do not count.
The stored numbers name no users, so they stay when the retention deletes the entries.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from typing import Any, Final

from django.db.models import Count, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate
from django.utils import timezone

from audit.events import Event
from audit.models import DayCount, Entry, EntryQuerySet

SIGN_INS: Final = (
    Event.SIGN_IN_PASSWORD,
    Event.SIGN_IN_CODE,
    Event.SIGN_IN_SOCIAL,
    Event.SIGN_IN_PASSKEY,
)
REGISTRATIONS: Final = (Event.REGISTER_USERNAME, Event.REGISTER_EMAIL, Event.REGISTER_PHONE)
TOKENS: Final = (Event.TOKEN_EXCHANGE, Event.TOKEN_REFRESH)
MAX_ENTRIES: Final = 200_000
KEPT_DAYS: Final = 400
_ACTIVE: Final = (*SIGN_INS, *REGISTRATIONS, *TOKENS)
_COUNTED: Final = (*_ACTIVE, Event.USER_CREATE)
# Of each day, the applications with the most entries. The others are counted together.
_MAX_APPLICATIONS: Final = 20
# All entries of a day are visible this long after its end, because no transaction takes longer.
_SETTLED: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Number:
    """How many entries of a day have this key, result, grant type and application."""

    key: str
    is_failed: bool
    grant: str
    application_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Day:
    """The numbers of a day. ``is_cut`` says that only the newest of its entries are counted."""

    day: date
    numbers: list[Number]
    active_users: int
    is_cut: bool = False


def get_days(tenant_id: str, first: date, last: date) -> list[Day]:
    """Return the days from ``first`` to ``last``, newest first, as far back as they are counted."""
    stored = {
        row.day: Day(row.day, [Number(*number) for number in row.numbers], row.active_users, row.is_cut)
        for row in DayCount.objects.filter(tenant_id=tenant_id, day__gte=first, day__lte=last)
    }
    all_days = [last - _DAY * back for back in range((last - first).days + 1)]
    newest_settled = (timezone.now() - _SETTLED).astimezone(UTC).date() - _DAY
    missing = [day for day in all_days if day not in stored]
    ended = [day for day in missing if day <= newest_settled]
    days = dict(stored)
    for day in missing:
        if day > newest_settled:
            days |= _count_days(tenant_id, [day])
    if ended:
        counted = _count_days(tenant_id, ended)
        _store(tenant_id, counted.values())
        days |= counted
    uncounted = next((index for index, day in enumerate(all_days) if day not in days), len(all_days))
    return [days[day] for day in all_days[:uncounted]]


def forget(tenant_id: str) -> None:
    """Delete the stored numbers, so that they are counted again."""
    DayCount.objects.filter(tenant_id=tenant_id).delete()


def delete_old() -> None:
    """Delete the stored numbers of all tenants that no page shows any more."""
    DayCount.objects.filter(day__lt=timezone.now().date() - _DAY * KEPT_DAYS).delete()


def _count_days(tenant_id: str, days: Sequence[date]) -> dict[date, Day]:
    """Count the newest of ``days`` that have at most ``MAX_ENTRIES`` entries in total.

    If the newest day alone has more, count only its newest entries. ``days`` are newest first.
    """
    if not days:
        return {}
    entries = _between(tenant_id, days[-1], days[0]).order_by("-created_at", "-id")
    times = entries.values_list("created_at", flat=True)
    left_out = times[MAX_ENTRIES : MAX_ENTRIES + 1].first()
    whole = [day for day in days if left_out is None or day > left_out.astimezone(UTC).date()]
    days = whole or days[:1]
    counted = _between(tenant_id, days[-1], days[0]).order_by()
    if not whole:
        counted = counted.filter(created_at__gt=left_out)
    active = _count_active_users(counted)
    rows = groupby(_group(counted), key=lambda row: row["day"])
    numbers = {day: _reduce([_to_number(row) for row in of_day]) for day, of_day in rows}
    return {day: Day(day, numbers.get(day, []), active.get(day, 0), not whole) for day in days}


def _between(tenant_id: str, first: date, last: date) -> EntryQuerySet:
    begin, end = (datetime.combine(day, time.min, tzinfo=UTC) for day in (first, last + _DAY))
    entries = Entry.objects.filter(tenant_id=tenant_id, created_at__gte=begin, created_at__lt=end)
    return entries.without_trials()


def _group(entries: QuerySet[Entry]) -> QuerySet[Any, Any]:
    grouped = entries.filter(key__in=_COUNTED).annotate(
        day=TruncDate("created_at", tzinfo=UTC),
        result=KeyTextTransform("result", "payload"),
        grant=KeyTextTransform("grant_type", "payload"),
    )
    rows = grouped.values("day", "key", "result", "grant", "application_id")
    return rows.annotate(number=Count("pk")).order_by("day")


def _to_number(row: dict[str, Any]) -> Number:
    is_failed, grant = row["result"] == "failed", row["grant"] or ""
    return Number(row["key"], is_failed, grant, row["application_id"] or "", row["number"])


def _reduce(numbers: Sequence[Number]) -> list[Number]:
    """Return the numbers of a day, with one sum for all applications but those with the most entries."""
    sums: Counter[str] = Counter()
    for number in numbers:
        sums[number.application_id] += number.number
    most = {application for application, _ in sums.most_common(_MAX_APPLICATIONS)}
    reduced: Counter[tuple[str, bool, str, str]] = Counter()
    for number in numbers:
        application = number.application_id if number.application_id in most else ""
        reduced[number.key, number.is_failed, number.grant, application] += number.number
    return [Number(*parts, total) for parts, total in reduced.items()]


def _count_active_users(entries: EntryQuerySet) -> dict[date, int]:
    """Return for each day the number of users who signed in, registered or got tokens."""
    active = entries.succeeded().filter(key__in=_ACTIVE, user_id__isnull=False)
    by_day = active.annotate(day=TruncDate("created_at", tzinfo=UTC)).values("day")
    return dict(by_day.annotate(number=Count("user_id", distinct=True)).values_list("day", "number"))


def _store(tenant_id: str, days: Iterable[Day]) -> None:
    """Store the numbers of days. Another request may store the same ones."""
    rows = [
        DayCount(
            tenant_id=tenant_id,
            day=day.day,
            active_users=day.active_users,
            is_cut=day.is_cut,
            numbers=[
                [one.key, one.is_failed, one.grant, one.application_id, one.number] for one in day.numbers
            ],
        )
        for day in days
    ]
    DayCount.objects.bulk_create(rows, ignore_conflicts=True)
