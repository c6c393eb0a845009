"""The filters of the audit log: by result, event and time. The charts of the dashboard lead to them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit import daily
from audit.administrative import hidden_from
from audit.events import Event
from audit.models import EntryQuerySet
from management.site.localized import format_date

# Groups of events that the dashboard counts together, by their values of the filter.
GROUPS: Final[Mapping[str, tuple[Promise, Sequence[str]]]] = {
    "sign-ins": (_("All sign-ins"), daily.SIGN_INS),
    "new-users": (_("All new users"), (*daily.REGISTRATIONS, Event.USER_CREATE)),
    "registrations": (_("All registrations"), daily.REGISTRATIONS),
    "tokens": (_("All tokens"), daily.TOKENS),
}
_TO: Final = ".."
_UTC: Final = "Z"  # ends a range of UTC days, as on the dashboard; other days are of the reader's zone
_DAY: Final = timedelta(days=1)
_NO_TRIALS: Final = "no"


def log_url(first: date, last: date, filters: Mapping[str, str]) -> str:
    """Return the URL of the log for some UTC days. If there are other filters, it leaves out trials too."""
    when = (f"{first}" if first == last else f"{first}{_TO}{last}") + _UTC
    others = {**filters, TrialFilter.parameter_name: _NO_TRIALS} if filters else {}
    return f"{reverse('admin:audit_entry_changelist')}?{urlencode({**others, 'when': when})}"


class ResultFilter(admin.SimpleListFilter):
    """A filter by result."""

    title = _("Result")
    parameter_name = "result"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("failed", _("Failed")), ("success", _("Succeeded"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter the list. Entries of changes have no result, and count as succeeded."""
        if self.value() == "failed":
            return queryset.filter(payload__result="failed")
        return cast("EntryQuerySet", queryset).succeeded() if self.value() == "success" else queryset


class KeyFilter(admin.SimpleListFilter):
    """A filter by event, or by a group of events."""

    title = _("Event")
    parameter_name = "key"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        """Return all groups and events, because finding those that occur would read the whole log."""
        hidden = hidden_from(request.user)
        events = [
            (event.value, format_html("<bdi>{}</bdi>", event.value))
            for event in sorted(Event)
            if event.value not in hidden
        ]
        return [(name, label) for name, (label, _) in GROUPS.items()] + events

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value() or ""
        if value in GROUPS:
            return queryset.filter(key__in=GROUPS[value][1])
        return queryset.filter(key=value) if value else queryset


class TrialFilter(admin.SimpleListFilter):
    """A filter that leaves out the sign-ins that administrators tried, as the dashboard does."""

    title = _("Trials")
    parameter_name = "trials"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(_NO_TRIALS, _("Without trials"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return cast("EntryQuerySet", queryset).without_trials() if self.value() == _NO_TRIALS else queryset


class WhenFilter(admin.SimpleListFilter):
    """A filter by time: a span until now, a day, or days. By default 30 days, because a log may be long."""

    title = _("Time")
    parameter_name = "when"
    _days: Final = {"hour": 1 / 24, "day": 1, "week": 7, "": 30, "quarter": 90}

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [
            ("hour", _("Last hour")), ("day", _("Last 24 hours")), ("week", _("Last 7 days")),
            ("", _("Last 30 days")), ("quarter", _("Last 90 days")), ("all", _("All time")),
        ]  # fmt: skip

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if (chosen := self.value() or "") == "all":
            return queryset
        if days := _parse_days(chosen):
            begin, end = (_midnight(day, chosen) for day in (days[0], days[1] + _DAY))
            return queryset.filter(created_at__gte=begin, created_at__lt=end)
        since = timezone.now() - timedelta(days=self._days.get(chosen, 30))
        return queryset.filter(created_at__gte=since)

    def choices(self, changelist: Any) -> Any:
        """Return the links, without Django's link for all, and with the days that were chosen."""
        chosen = self.value() or ""
        days = _parse_days(chosen)
        for value, label in [*([(chosen, _describe(*days, chosen))] if days else []), *self.lookup_choices]:
            yield {
                "selected": chosen == value,
                "query_string": changelist.get_query_string({"when": value} if value else {}, ["when"]),
                "display": label,
            }


def _parse_days(text: str) -> tuple[date, date] | None:
    """Return the first and last day of a filter, such as ``2026-11-01..2026-11-30`` or ``2026-11-22Z``."""
    first, _, last = text.removesuffix(_UTC).partition(_TO)
    try:
        days = date.fromisoformat(first), date.fromisoformat(last or first)
    except ValueError:
        return None
    return days if date.min < days[0] <= days[1] < date.max else None


def _midnight(day: date, text: str) -> datetime:
    """Return when a day of a filter begins, in UTC or in the reader's time zone."""
    zone = UTC if text.endswith(_UTC) else timezone.get_current_timezone()
    return datetime.combine(day, time.min, tzinfo=zone)


def _describe(first: date, last: date, text: str) -> str:
    values = {"first": format_date(first), "last": format_date(last)}
    days = values["first"] if first == last else gettext("%(first)s to %(last)s") % values
    return f"{days} (UTC)" if text.endswith(_UTC) else days
