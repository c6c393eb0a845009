"""The doctor's check of outgoing messages."""

from collections.abc import Iterator
from typing import Final

from django.core.checks import CheckMessage, Error

from database.clock import seconds_ahead
from identity.core.doctor_checks import doctor_check
from interaction.verification.models import OutgoingMessage

_LATE_SECONDS: Final = 300


@doctor_check
def outgoing_messages() -> Iterator[CheckMessage]:
    """Report messages that are overdue."""
    late = OutgoingMessage.objects.filter(due_at__lt=seconds_ahead(-_LATE_SECONDS)).count()
    if late:
        yield Error(
            f"{late:,} messages have been waiting for more than {_LATE_SECONDS // 60} minutes to be sent",
            hint="servers send them: check that a server runs, read its log, and test the connector",
            id="messages.E001",
        )
