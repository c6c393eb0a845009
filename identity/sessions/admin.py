"""Browser sessions, for operators."""

from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_noop, ngettext, ngettext_lazy, pgettext
from django.utils.translation import gettext_lazy as _

from identity.core import impacts
from identity.core.text_lists import join
from identity.http import browser_names
from identity.operator_kit import routes
from identity.operator_kit.badges import GOOD, QUIET, badge
from identity.operator_kit.extensions import register_operations, register_panels
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Panel, build_panel, link
from identity.operator_kit.timestamps import format_time
from identity.sessions import services
from identity.sessions.models import Session
from identity.users import sign_out
from identity.users.models import User
from identity.users.search import match_users

# The labels of columns, which ``get_label`` builds from their names.
_LABELS: Final = (
    gettext_noop("Sessions"),
    gettext_noop("IP"),
    gettext_noop("Expires"),
    gettext_noop("Ended"),
    gettext_noop("User agent"),
)


class LiveFilter(admin.SimpleListFilter):
    """Filter by live and ended sessions."""

    title = _("State")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("live", pgettext("session", "Live")), ("over", pgettext("session", "Ended"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        live = Session.objects.live().values("pk")
        if self.value() == "live":
            return queryset.filter(pk__in=live)
        return queryset.exclude(pk__in=live) if self.value() == "over" else queryset


def _end(submission: Submission) -> str:
    services.end(submission.row)
    return gettext("The session has ended.")


def _sign_out(submission: Submission) -> str:
    sign_out.sign_out(submission.row, expected=submission.expected)
    return gettext("The user is signed out everywhere.")


def _end_all(submission: Submission) -> str:
    number = services.end_all(submission.row)
    text = ngettext("%(count)s session has ended.", "%(count)s sessions have ended.", number)
    return text % {"count": number}


@admin.register(Session)
class SessionAdmin(Pages):
    section = "Users"
    place = 1
    empty = _("A session begins when a user signs in.")
    list_display = ("user", "state", "signed_in", "last_used_at", "ip", "browser")
    list_display_links = ("user",)
    list_filter = (LiveFilter, "auth_time")
    list_select_related = ("user",)
    search_fields = ("user__search_text",)
    search_help_text = _("Part of a username, name, email or phone, or the sid of a token")
    ordering = ("-expires_at", "-pk")
    field_groups = (
        (
            _("Session"),
            ("user_link", "state", "methods", "signed_in", "last_used_at", "expires_at", "ended_at"),
        ),
        (_("Browser"), ("ip", "user_agent")),
        (_("Record"), ("id",)),
    )
    operations = (
        Operation(
            "end", _("End session"),
            _("The browser is signed out, and access tokens of this session stop working."),
            _end, is_possible=lambda session: session.ended_at is None, is_destructive=True,
            bulk_label=(
                _("End sessions"), ngettext_lazy("End %(count)s session", "End %(count)s sessions", "count"),
            ),
            bulk_description=_("The browsers are signed out, and access tokens of these sessions stop "
                               "working."),
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return sessions with their users."""
        return super().get_queryset(request).select_related("user")

    def get_row_name(self, row: Any) -> str:
        return gettext("Session of %(user)s") % {"user": row.user}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by user, or by the id of a session."""
        if pk := self.parse_id(search_term.strip()):
            return queryset.filter(pk=pk), False
        if search_term:
            queryset = queryset.filter(match_users(search_term, prefix="user__"))
        return queryset, False

    @admin.display(description=_("User"))
    def user_link(self, session: Session) -> str:
        return format_html('<a href="{}">{}</a>', routes.row_url(session.user), session.user)

    @admin.display(description=_("State"))
    def state(self, session: Session) -> str:
        return _state(session)

    @admin.display(description=_("Signed in at"), ordering="auth_time")
    def signed_in(self, session: Session) -> str:
        return _signed_in(session)

    @admin.display(description=_("Browser"))
    def browser(self, session: Session) -> str:
        """Return the name of the browser and its system."""
        return browser_names.describe(session.user_agent)

    @admin.display(description=_("Methods (amr)"))
    def methods(self, session: Session) -> str:
        return join(session.amr) or "-"


def _signed_in(session: Session) -> str:
    """Return when the user authenticated. Other providers do not always report it."""
    return format_time(session.known_auth_time) if session.known_auth_time else gettext("Unknown")


def _state(session: Session) -> str:
    if session.ended_at is not None:
        return badge(pgettext("session", "Ended"), QUIET)
    if session.user.is_suspended or session.user.epoch != session.epoch:
        return badge(pgettext("session", "Ended, with all of the user's"), QUIET)
    if session.expires_at <= timezone.now():
        return badge(pgettext("session", "Expired"), QUIET)
    return badge(pgettext("session", "Live"), GOOD)


def _build_user_panels(user: User) -> list[Panel]:
    return [
        build_panel(
            gettext("Live sessions"),
            (gettext("Signed in"), gettext("Last used"), gettext("Address"), gettext("Browser")),
            Session.objects.live().filter(user=user).order_by("-last_used_at"),
            lambda session: (
                link(session, _signed_in(session)),
                format_time(session.last_used_at),
                session.ip,
                browser_names.describe(session.user_agent),
            ),
            empty=gettext("No live sessions."),
            more_url=f"{routes.list_url(Session)}?{urlencode({'q': user.identifier})}",
            ends=("end-sessions",),
        )
    ]


register_panels(User, _build_user_panels)
register_operations(
    User,
    Operation(
        "end-sessions", _("End sessions"),
        _("Signs the user out of every browser. Applications with offline access keep their refresh tokens. "
          "To end these too, sign the user out everywhere."),
        _end_all, is_destructive=True, sentence=_("End sessions of {name}"),
        bulk_label=(
            _("End sessions of users"),
            ngettext_lazy("End sessions of %(count)s user", "End sessions of %(count)s users", "count"),
        ),
        bulk_description=_("Signs the users out of every browser. Applications with offline access keep "
                           "their refresh tokens. To end these too, sign the users out everywhere."),
    ),
    Operation(
        "sign-out", _("Sign out everywhere"),
        _("Ends every session and refresh token at once. The user can sign in again."),
        _sign_out, is_destructive=True, impact=impacts.measure_end,
        bulk_label=(
            _("Sign users out everywhere"),
            ngettext_lazy(
                "Sign %(count)s user out everywhere", "Sign %(count)s users out everywhere", "count"
            ),
        ),
        bulk_description=_("Ends every session and refresh token of the users at once. They can sign in "
                           "again."),
    ),
)  # fmt: skip
