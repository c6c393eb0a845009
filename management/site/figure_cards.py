"""The figures at the top of the dashboard, and the tables by method and by application."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext, ngettext, pgettext

from audit.events import Event
from database import ids
from identity.operator_kit import routes
from identity.operator_kit.numbers import format_number
from identity.operator_kit.panels import Link, Panel, link
from identity.sessions.models import Session
from identity.users.models import User
from identity.users.row_counts import count_users
from management.site import statistics
from management.site.log_filters import log_url
from management.site.statistics import Figures
from oidc.applications.models import Application

_MAX_APPLICATIONS: Final = 10
_MAX_WITH_FACTOR: Final = 10_000
_SUCCEEDED: Final = {"result": "success"}
_FAILED: Final = {"result": "failed"}
# The filters of the log that find what a counter counts.
FILTERS: Final[Mapping[str, Mapping[str, str]]] = {
    "sign_ins": {"key": "sign-ins", **_SUCCEEDED},
    "failures": {"key": "sign-ins", **_FAILED},
    "new_users": {"key": "new-users", **_SUCCEEDED},
    "active_users": _SUCCEEDED,
    "tokens": {"key": "tokens", **_SUCCEEDED},
}


@dataclass(frozen=True, slots=True)
class Change:
    """How a figure has changed. ``tone`` is a class of the style sheet."""

    text: str
    tone: str = "quiet"


@dataclass(frozen=True, slots=True)
class FigureCard:
    """A figure, where it leads, and how it has changed."""

    label: str
    value: str
    href: str
    change: Change


def build_cards(figures: Figures) -> list[FigureCard]:
    """Return the cards at the top of the dashboard: current numbers, and totals of the range."""
    days = (figures.last - figures.first).days + 1
    sessions = figures.live_sessions
    live = format_number(min(sessions, statistics.MAX_SESSIONS))
    if sessions > statistics.MAX_SESSIONS:
        live = gettext("more than %(number)s") % {"number": live}
    values = {"number": format_number(figures.new_users.total()), "days": days}
    new = ngettext("%(number)s new in %(days)s day", "%(number)s new in %(days)s days", days) % values
    users = count_users()
    return [
        FigureCard(gettext("Users"), format_number(users), routes.list_url(User), Change(new)),
        *_build_factors(users),
        FigureCard(
            gettext("Live sessions"), live, f"{routes.list_url(Session)}?state=live", Change(gettext("now"))
        ),
        _build(figures, gettext("Sign-ins"), "sign_ins", good="more"),
        _build(figures, gettext("Failed sign-ins"), "failures", good="fewer"),
        _build(figures, gettext("Tokens issued"), "tokens"),
    ]


def _build_factors(users: int) -> list[FigureCard]:
    """Return the card of users with a second factor, if there are any. Only their index is read.

    Beyond 10,000 the number is not exact, so that the page never reads more.
    """
    found = User.objects.filter(factors__gt=0)[: _MAX_WITH_FACTOR + 1].count()
    if not found:
        return []
    label, href = gettext("Users with a second factor"), routes.list_url(User)
    if found > _MAX_WITH_FACTOR:
        most = format_number(_MAX_WITH_FACTOR)
        return [FigureCard(label, gettext("more than %(number)s") % {"number": most}, href, Change(""))]
    share = gettext("%(share)s%% of all users") % {"share": format_number(round(100 * found / max(users, 1)))}
    return [FigureCard(label, format_number(found), href, Change(share))]


def _build(figures: Figures, label: str, counter: str, good: str = "") -> FigureCard:
    total = getattr(figures, counter).total()
    href = log_url(figures.first, figures.last, FILTERS[counter])
    days = (figures.last - figures.first).days + 1
    return FigureCard(label, format_number(total), href, _compare(figures.before, counter, total, days, good))


def _compare(before: Mapping[str, int] | None, counter: str, now: int, days: int, good: str) -> Change:
    """Return the change since the period before. It is good if its direction is ``good``: more or fewer."""
    values: dict[str, object] = {"days": days}
    if before is None:
        return Change(ngettext("in %(days)s day", "in %(days)s days", days) % values)
    earlier = before.get(counter, 0)
    if earlier == now:
        text = ngettext("as in the day before", "as in the %(days)s days before", days)
        return Change(text % values)
    if not earlier:
        text = ngettext("none in the day before", "none in the %(days)s days before", days)
        return Change(text % values)
    direction = "more" if now > earlier else "fewer"
    values["percent"] = format_number(max(1, round(100 * abs(now - earlier) / earlier)))
    tone = "quiet" if not good else "good" if direction == good else "bad"
    return Change(_get_comparison(direction, days) % values, tone)


def _get_comparison(direction: str, days: int) -> str:
    if direction == "more":
        return ngettext(
            "%(percent)s %% more than in the day before",
            "%(percent)s %% more than in the %(days)s days before",
            days,
        )
    return ngettext(
        "%(percent)s %% fewer than in the day before",
        "%(percent)s %% fewer than in the %(days)s days before",
        days,
    )


def by_method(figures: Figures) -> Panel:
    """Return the table of ways to sign in."""
    rows = []
    for key, name in statistics.SIGN_INS.items():
        succeeded, failed = (_sum(counts, name) for counts in (figures.sign_ins, figures.failures))
        if succeeded or failed:
            share = round(100 * failed / (succeeded + failed))
            rows.append(
                (
                    gettext(name),
                    _link(figures, succeeded, key, _SUCCEEDED),
                    _link(figures, failed, key, _FAILED),
                    gettext("%(percent)s %%") % {"percent": share},
                )
            )
    headings = (
        pgettext("to sign in", "Way"), gettext("Sign-ins"), gettext("Failed"), gettext("Share failed"),
    )  # fmt: skip
    return Panel(gettext("By way to sign in"), headings, rows, empty="")


def _link(figures: Figures, number: int, key: str, result: Mapping[str, str]) -> Link:
    return Link(format_number(number), log_url(figures.first, figures.last, {"key": key, **result}))


def by_application(figures: Figures) -> Panel:
    """Return the table of the applications with the most sign-ins and tokens."""
    sums: dict[str, int] = {}
    for (application_id, _), number in figures.applications.items():
        sums[application_id] = sums.get(application_id, 0) + number
    shown = sorted(sums, key=lambda name: -sums[name])[:_MAX_APPLICATIONS]
    known = Application.objects.in_bulk([pk for name in shown if (pk := ids.parse(name))])
    names = {str(pk): row for pk, row in known.items()}
    rows = []
    for name in shown:
        cells: list[Any] = [_name(names.get(name))]
        for counter in ("sign_ins", "failures", "tokens"):
            number = figures.applications[name, counter]
            href = log_url(figures.first, figures.last, {"q": name, **FILTERS[counter]})
            cells.append(Link(format_number(number), href) if number else "0")
        rows.append(tuple(cells))
    headings = (gettext("Application"), gettext("Sign-ins"), gettext("Failed"), gettext("Tokens"))
    return Panel(gettext("By application"), headings, rows, empty="")


def _name(application: Application | None) -> Link | str:
    if application is None:
        return gettext("Deleted application")
    return link(application, application.name)


def _sum(counts: Mapping[tuple[Any, str], int], series: str) -> int:
    return sum(number for (_, name), number in counts.items() if name == series)


def get_series_filters(counter: str, series: str) -> Mapping[str, str]:
    """Return the filters of the log that find a series of a counter's chart."""
    if counter in {"sign_ins", "failures"}:
        return {"key": next(key for key, name in statistics.SIGN_INS.items() if name == series)}
    if counter == "new_users":
        return {"key": Event.USER_CREATE.value if series == statistics.CREATED else "registrations"}
    if counter == "tokens":
        is_refresh = series == statistics.GRANTS["refresh_token"]
        return {"key": Event.TOKEN_REFRESH.value if is_refresh else Event.TOKEN_EXCHANGE.value}
    return {}
