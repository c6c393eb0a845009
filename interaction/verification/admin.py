"""The operators' page of outgoing messages. Recipients and texts are encrypted and not shown."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.models import Entry
from database.clock import seconds_ahead
from identity.core import tenancy
from identity.operator_kit import health, routes
from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.pages import Pages
from identity.operator_kit.panels import Link
from identity.operator_kit.texts import Text
from identity.operator_kit.timestamps import format_text
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage

_LATE_SECONDS: Final = 300
_DAY_SECONDS: Final = 24 * 3600
_MAX_READ: Final = 1_000
_MAX_COUNTED: Final = 100
_WAITING: Final = _(
    "They are due for more than five minutes. Check that a server runs, and test the connector."
)
_UNDELIVERED: Final = _("The provider did not accept them. Test the connector.")


# The labels of columns and choices of the model, which the pages translate.
_LABELS: Final = (
    gettext_noop("Created"),
    gettext_noop("Due"),
    gettext_noop("ID"),
    gettext_noop("Tries"),
)


def _retry(submission: Submission) -> str:
    outgoing.retry(submission.row)
    return gettext("The message will be sent now.")


def _drop(submission: Submission) -> str:
    outgoing.drop(submission.row)
    return gettext("The message is erased.")


@admin.register(OutgoingMessage)
class OutgoingMessageAdmin(Pages):
    """Outgoing messages. They are deleted once they are sent or have failed."""

    section = "Messages"
    empty = _("Messages wait here until they are sent.")
    title = _("Outgoing messages")
    list_display = ("created_at", "due_at", "tries")
    ordering = ("due_at", "pk")
    fields = ("due_at", "tries", "created_at", "id")
    operations = (
        Operation(
            "retry", _("Send message now"), _("The message is sent now, with all its tries again."), _retry,
            bulk_label=(
                _("Send messages now"),
                ngettext_lazy("Send %(count)s message now", "Send %(count)s messages now", "count"),
            ),
            bulk_description=_("The messages are sent now, with all their tries again."),
        ),
        Operation(
            "drop", _("Erase message"), _("The message is not sent. The user can request another."), _drop,
            is_destructive=True, bulk_label=(
                _("Erase messages"),
                ngettext_lazy("Erase %(count)s message", "Erase %(count)s messages", "count"),
            ),
            bulk_description=_("The messages are not sent. The users can request others."),
        ),
    )  # fmt: skip

    def get_row_name(self, row: Any) -> str:
        """Return when the message was created: what it says, and to whom, is not shown."""
        return gettext("Message created at %(time)s") % {"time": format_text(row.created_at)}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the messages that have a recipient, without their encrypted column."""
        return super().get_queryset(request).filter(silent=False).defer("sealed")


def _find_waiting() -> list[health.Problem]:
    late = OutgoingMessage.objects.filter(silent=False, due_at__lt=seconds_ahead(-_LATE_SECONDS))
    number = late[: _MAX_COUNTED + 1].count()
    text = (
        gettext("More than %(count)s messages waiting to be sent.")
        if number > _MAX_COUNTED
        else ngettext(
            "%(count)s message waiting to be sent.", "%(count)s messages waiting to be sent.", number
        )
    )
    return [_build_problem(text, number, _WAITING, routes.list_url(OutgoingMessage))] if number else []


def _find_undelivered() -> list[health.Problem]:
    """Return a problem if messages of the last 24 hours, among the newest entries, were not delivered."""
    sent = Entry.objects.filter(
        tenant_id=tenancy.active_id(), key=Event.CODE_SEND, created_at__gte=seconds_ahead(-_DAY_SECONDS)
    ).order_by("-created_at", "-id")
    newest = sent.values("pk")[:_MAX_READ]
    number = Entry.objects.filter(pk__in=newest, payload__error="not_delivered")[: _MAX_COUNTED + 1].count()
    url = f"{routes.list_url(Entry)}?key={Event.CODE_SEND}&result=failed&when=day"
    text = (
        gettext("More than %(count)s messages were not delivered in the last 24 hours.")
        if number > _MAX_COUNTED
        else ngettext(
            "%(count)s message was not delivered in the last 24 hours.",
            "%(count)s messages were not delivered in the last 24 hours.",
            number,
        )
    )
    return [_build_problem(text, number, _UNDELIVERED, url)] if number else []


def _build_problem(text: str, number: int, detail: Text, url: str) -> health.Problem:
    text %= {"count": min(number, _MAX_COUNTED)}
    return health.Problem(text, str(detail), Link(gettext("Show them"), url), is_serious=True)


health.register("verification.view_outgoingmessage", _find_waiting)
health.register("verification.view_outgoingmessage", _find_undelivered)
