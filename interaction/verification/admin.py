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
            "retry", "Send now", "The message is tried at once, with all its tries.", _retry, in_bulk=True
        ),
        Operation(
            "drop",
            "Erase",
            "The message is not sent. The user can ask for another.",
            _drop,
            is_destructive=True,
            in_bulk=True,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the messages that have a recipient, without their encrypted column."""
        return super().get_queryset(request).filter(silent=False).defer("sealed")
