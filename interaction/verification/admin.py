"""The console's page of outgoing messages. Recipients and texts are encrypted and not shown."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from identity.operator_kit.operations import Operation, Submission
from identity.operator_kit.pages import Pages
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage


def _retry(submission: Submission) -> str:
    outgoing.retry(submission.row)
    return "The message will be sent now."


def _drop(submission: Submission) -> str:
    outgoing.drop(submission.row)
    return "The message is erased."


@admin.register(OutgoingMessage)
class OutgoingMessageAdmin(Pages):
    """Outgoing messages. They are deleted once they are sent or have failed."""

    section = "Signing in"
    title = "Outgoing messages"
    list_display = ("id", "tries", "due_at", "created_at")
    ordering = ("due_at", "pk")
    fields = ("id", "tries", "due_at", "created_at")
    operations = (
        Operation(
            "retry", "Send message now", "The message is sent now, with all its tries again.", _retry,
            bulk_label=("Send", "messages now"),
        ),
        Operation(
            "drop", "Erase message", "The message is not sent. The user can request another.", _drop,
            is_destructive=True, bulk_label=("Erase", "messages"),
        ),
    )  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the messages that have a recipient, without their encrypted column."""
        return super().get_queryset(request).filter(silent=False).defer("sealed")
