"""Statistics of a tenant over the last 30 days, from the audit log.

They are read with the index on tenant and time, from the newest 100,000 entries at most. If a tenant has
more, earlier days are left out, and the page says so.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import TruncDate
from django.utils import timezone

from audit.events import Event
from audit.models import Entry
from identity.core import tenancy

DAYS: Final = 30
_MAX_ENTRIES: Final = 100_000
_CACHE_SECONDS: Final = 60
SIGN_INS: Final = {
    Event.SIGN_IN_PASSWORD.value: "Password",
    Event.SIGN_IN_CODE.value: "Code",
    Event.SIGN_IN_SOCIAL.value: "Other provider",
}
_REGISTRATIONS: Final = {
    Event.REGISTER_USERNAME.value, Event.REGISTER_EMAIL.value, Event.REGISTER_PHONE.value,
}  # fmt: skip
_TOKENS: Final = {Event.TOKEN_EXCHANGE.value, Event.TOKEN_REFRESH.value}
GRANTS: Final = {
    "authorization_code": "Authorization code",
    "refresh_token": "Refresh token",
    "client_credentials": "Client credentials",
}
_COUNTERS: Final = ("sign_ins", "failures", "new_users", "active_users", "tokens")
_ACTIVE: Final = {*SIGN_INS, *_REGISTRATIONS, *_TOKENS}


@dataclass(slots=True)
class Figures:
    """Counts by day: sign-ins and failures by method, new users, active users, tokens by grant."""

    days: list[date]
    since: datetime
    complete: bool
    sign_ins: Counter[tuple[date, str]] = field(default_factory=Counter)
    failures: Counter[tuple[date, str]] = field(default_factory=Counter)
    new_users: Counter[tuple[date, str]] = field(default_factory=Counter)
    active_users: Counter[tuple[date, str]] = field(default_factory=Counter)
    tokens: Counter[tuple[date, str]] = field(default_factory=Counter)
    active_in_total: int = 0


def get_statistics() -> Figures:
    """Return the statistics of the active tenant, cached for a minute."""
    key = f"figures-json/{tenancy.active_id()}"
    figures = _from_json(cache.get(key))
    if figures is None:
        figures = _count()
        cache.set(key, _to_json(figures), _CACHE_SECONDS)
    return figures


def _to_json(figures: Figures) -> str:
    """Return the statistics as JSON, which unlike pickle cannot run code when read from a shared cache."""
    return json.dumps(
        {
            "days": [day.isoformat() for day in figures.days],
            "since": figures.since.isoformat(),
            "complete": figures.complete,
            "active_in_total": figures.active_in_total,
            **{
                name: [[day.isoformat(), series, number] for (day, series), number in counts.items()]
                for name in _COUNTERS
                for counts in [getattr(figures, name)]
            },
        }
    )


def _from_json(text: object) -> Figures | None:
    """Return the statistics of a JSON text, or none if it is invalid."""
    try:
        stored = json.loads(str(text))
        return Figures(
            days=[date.fromisoformat(day) for day in stored["days"]],
            since=datetime.fromisoformat(stored["since"]),
            complete=bool(stored["complete"]),
            active_in_total=int(stored["active_in_total"]),
            **{
                name: Counter(
                    {
                        (date.fromisoformat(day), str(series)): int(number)
                        for day, series, number in stored[name]
                    }
                )
                for name in _COUNTERS
            },
        )
    except (ValueError, KeyError, TypeError):
        return None


def get_latest_failures(reader: object, limit: int = 10) -> list[Entry]:
    """Return the latest failures that a reader may see, among the newest 2,000 entries."""
    newest = Entry.objects.filter(tenant_id=tenancy.active_id()).order_by("-created_at", "-id")
    oldest_time = newest.values_list("created_at", flat=True)[1_999:2_000].first()
    recent = newest.filter(created_at__gte=oldest_time) if oldest_time else newest
    return list(recent.visible_to(reader).filter(payload__result="failed")[:limit])


def _count() -> Figures:
    today = timezone.now().date()
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    since = datetime.combine(days[0], datetime.min.time(), tzinfo=timezone.get_current_timezone())
    of_tenant = Entry.objects.filter(tenant_id=tenancy.active_id()).order_by("-created_at", "-id")
    first_left_out = (
        of_tenant.filter(created_at__gte=since)
        .values_list("created_at", flat=True)[_MAX_ENTRIES : _MAX_ENTRIES + 1]
        .first()
    )
    figures = Figures(
        days, max(since, first_left_out) if first_left_out else since, complete=first_left_out is None
    )
    entries = of_tenant.filter(created_at__gte=figures.since).order_by()
    for row in _by_day(entries):
        _add(figures, row)
    _count_active_users(figures, entries.filter(_succeeded(), key__in=_ACTIVE, user_id__isnull=False))
    return figures


def _by_day(entries: QuerySet[Entry]) -> QuerySet[Any, Any]:
    keys = {*_ACTIVE, Event.USER_CREATE.value}
    return (
        entries.filter(key__in=keys)
        .annotate(
            day=TruncDate("created_at"),
            result=KeyTextTransform("result", "payload"),
            grant=KeyTextTransform("grant_type", "payload"),
        )
        .values("day", "key", "result", "grant")
        .annotate(number=Count("pk"))
    )


def _succeeded() -> Q:
    return ~Q(payload__result="failed")


def _count_active_users(figures: Figures, entries: QuerySet[Entry]) -> None:
    by_day = entries.annotate(day=TruncDate("created_at")).values("day")
    for row in by_day.annotate(number=Count("user_id", distinct=True)):
        figures.active_users[row["day"], "Active users"] += row["number"]
    figures.active_in_total = entries.aggregate(number=Count("user_id", distinct=True))["number"]


def _add(figures: Figures, row: dict[str, Any]) -> None:
    day, key, number = row["day"], row["key"], row["number"]
    failed = row["result"] == "failed"
    if key in SIGN_INS:
        (figures.failures if failed else figures.sign_ins)[day, SIGN_INS[key]] += number
    elif failed:
        return
    elif key in _REGISTRATIONS:
        figures.new_users[day, "Registered"] += number
    elif key == Event.USER_CREATE:
        figures.new_users[day, "Created by administrators or applications"] += number
    elif key in _TOKENS:
        grant = "refresh_token" if key == Event.TOKEN_REFRESH else row["grant"]
        figures.tokens[day, GRANTS.get(grant, "Other")] += number
