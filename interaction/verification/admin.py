"""Messages on their way, for operators. What they say and to whom is sealed, and stays it."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from identity.operator_kit.operations import Operation, Order
from identity.operator_kit.pages import Pages
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage


def _retry(order: Order) -> str:
    outgoing.retry(order.row)
    return "The message is sent now."


def _drop(order: Order) -> str:
    outgoing.drop(order.row)
    return "The message is erased."


@admin.register(OutgoingMessage)
class OutgoingMessageAdmin(Pages):
    """Messages on their way. Sent or given up, they are gone."""

    section = "Signing in"
    title = "Outgoing messages"
    list_display = ("id", "tries", "due_at", "created_at")
    ordering = ("due_at", "pk")
    shown = ("id", "tries", "due_at", "created_at")
    operations = (
        Operation(
            "retry", "Send now", "It is tried at once, as if for the first time.", _retry, in_bulk=True
        ),
        Operation(
            "drop",
            "Erase",
            "Nobody gets it. The person can ask for another.",
            _drop,
            grave=True,
            in_bulk=True,
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return those that go to somebody, unopened."""
        return super().get_queryset(request).filter(silent=False).defer("sealed")
