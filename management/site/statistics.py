"""Statistics of a tenant over some days, from the numbers by day of ``audit.daily``."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import daily
from audit.daily import Day, Number
from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.sessions.models import Session

RANGES: Final = (7, 30, 90)
MAX_SESSIONS: Final = 10_000
_CACHE_SECONDS: Final = 60
_WEEK: Final = 7
# The English names of series. They are cached, and translated when they are shown.
SIGN_INS: Final = {
    Event.SIGN_IN_PASSWORD.value: gettext_noop("Password"),
    Event.SIGN_IN_CODE.value: gettext_noop("Code"),
    Event.SIGN_IN_SOCIAL.value: gettext_noop("Other provider"),
    Event.SIGN_IN_PASSKEY.value: gettext_noop("Passkey"),
}
GRANTS: Final = {
    "authorization_code": gettext_noop("Authorization code"),
    "refresh_token": gettext_noop("Refresh token"),
    "client_credentials": gettext_noop("Client credentials"),
}
REGISTERED: Final = gettext_noop("Registered")
CREATED: Final = gettext_noop("Created by administrators or applications")
OTHER: Final = gettext_noop("Other")
_COUNTERS: Final = ("sign_ins", "failures", "new_users", "active_users", "tokens")
_OF_APPLICATIONS: Final = frozenset({"sign_ins", "failures", "tokens"})


@dataclass(slots=True)
class Figures:
    """Counts by day: sign-ins and failures by method, new users, active users, tokens by grant.

    ``first`` is the first day of the range, and ``since`` the first day that is already counted. ``is_cut``
    says that a day has more entries than were counted. ``applications`` counts by application and counter.
    ``before`` has each counter's total in the period before, or is None if the log is younger than that.
    """

    first: date
    last: date
    since: date
    is_cut: bool = False
    live_sessions: int = 0
    sign_ins: Counter[tuple[date, str]] = field(default_factory=Counter)
    failures: Counter[tuple[date, str]] = field(default_factory=Counter)
    new_users: Counter[tuple[date, str]] = field(default_factory=Counter)
    active_users: Counter[tuple[date, str]] = field(default_factory=Counter)
    tokens: Counter[tuple[date, str]] = field(default_factory=Counter)
    applications: Counter[tuple[str, str]] = field(default_factory=Counter)
    before: Counter[str] | None = None

    @property
    def spans(self) -> list[tuple[date, date]]:
        """The first and last days of the bars: single days, or weeks if the range is long."""
        days = (self.last - self.first).days + 1
        length = 1 if days <= max(RANGES[:-1]) else _WEEK
        ends = [self.last - timedelta(days=back) for back in range(0, days, length)][::-1]
        return [(max(self.first, end - timedelta(days=length - 1)), end) for end in ends]


def get_statistics(days: int) -> Figures:
    """Return the statistics of the active tenant over the last days, cached for a minute."""
    key = f"figures-json/{tenancy.active_id()}/{days}"
    figures = _from_json(cache.get(key))
    if figures is None:
        figures = _count(days)
        if figures.since == figures.first:  # otherwise the next request can count more days
            cache.set(key, _to_json(figures), _CACHE_SECONDS)
    return figures


def get_latest_failures(reader: object, limit: int = 10) -> list[Entry]:
    """Return the latest failures that a reader may see, among the newest 2,000 entries.

    Failures of sign-ins that administrators tried are left out.
    """
    newest = Entry.objects.filter(tenant_id=tenancy.active_id()).order_by("-created_at", "-id")
    oldest_time = newest.values_list("created_at", flat=True)[1_999:2_000].first()
    recent = newest.filter(created_at__gte=oldest_time) if oldest_time else newest
    return list(recent.visible_to(reader).without_trials().filter(payload__result="failed")[:limit])


def _count(length: int) -> Figures:
    tenant_id = tenancy.active_id()
    last = timezone.now().astimezone(UTC).date()
    first = last - timedelta(days=length - 1)
    first_before = first - timedelta(days=length)
    days = daily.get_days(tenant_id, first_before, last)
    shown = [day for day in days if day.day >= first]
    figures = Figures(first, last, max(first, days[-1].day), any(day.is_cut for day in shown))
    for day in shown:
        _add_day(figures, day)
    if days[-1].day == first_before and (days[-1].numbers or _reaches_back(tenant_id, first_before)):
        figures.before = _sum(day for day in days if day.day < first)
    figures.live_sessions = Session.objects.live()[: MAX_SESSIONS + 1].count()
    return figures


def _reaches_back(tenant_id: str, day: date) -> bool:
    """Return whether the log has an entry that is older than a day."""
    midnight = datetime.combine(day, datetime.min.time(), tzinfo=UTC)
    return Entry.objects.filter(tenant_id=tenant_id, created_at__lt=midnight).exists()


def _add_day(figures: Figures, day: Day) -> None:
    figures.active_users[day.day, "Active users"] = day.active_users
    for number in day.numbers:
        if described := _describe(number):
            counter, series = described
            getattr(figures, counter)[day.day, series] += number.number
            if counter in _OF_APPLICATIONS and number.application_id:
                figures.applications[number.application_id, counter] += number.number


def _sum(days: Iterable[Day]) -> Counter[str]:
    totals: Counter[str] = Counter(dict.fromkeys(_COUNTERS, 0))
    for day in days:
        totals["active_users"] += day.active_users
        for number in day.numbers:
            if described := _describe(number):
                totals[described[0]] += number.number
    return totals


def _describe(number: Number) -> tuple[str, str] | None:
    """Return the counter and the series of a number, or None for failures that no chart shows."""
    key = number.key
    if key in SIGN_INS:
        return ("failures" if number.is_failed else "sign_ins"), SIGN_INS[key]
    if number.is_failed:
        return None
    if key in daily.TOKENS:
        grant = "refresh_token" if key == Event.TOKEN_REFRESH else number.grant
        return "tokens", GRANTS.get(grant, OTHER)
    return "new_users", CREATED if key == Event.USER_CREATE else REGISTERED


def _to_json(figures: Figures) -> str:
    """Return the statistics as JSON, which unlike pickle cannot run code when read from a shared cache."""
    return json.dumps(
        {
            **{name: getattr(figures, name).isoformat() for name in ("first", "last", "since")},
            "is_cut": figures.is_cut,
            "live_sessions": figures.live_sessions,
            "before": figures.before,
            "applications": [[*key, number] for key, number in figures.applications.items()],
            **{
                name: [[day.isoformat(), series, number] for (day, series), number in counts.items()]
                for name in _COUNTERS
                for counts in [getattr(figures, name)]
            },
        }
    )


def _from_json(text: object) -> Figures | None:
    """Return the statistics of a JSON text, or None if it is invalid."""
    try:
        stored: Any = json.loads(str(text))
        counts: dict[str, Any] = {
            name: Counter(
                {(date.fromisoformat(day), str(series)): int(number) for day, series, number in stored[name]}
            )
            for name in _COUNTERS
        }
        return Figures(
            first=date.fromisoformat(stored["first"]),
            last=date.fromisoformat(stored["last"]),
            since=date.fromisoformat(stored["since"]),
            is_cut=bool(stored["is_cut"]),
            live_sessions=int(stored["live_sessions"]),
            before=None if stored["before"] is None else Counter(stored["before"]),
            applications=Counter({(str(pk), str(name)): int(n) for pk, name, n in stored["applications"]}),
            **counts,
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
