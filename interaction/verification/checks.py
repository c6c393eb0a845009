"""What the doctor asks about messages on their way."""

from collections.abc import Iterator
from typing import Final

from django.core.checks import CheckMessage, Error

from database.clock import seconds_ahead
from identity.core.examination import examined
from interaction.verification.models import OutgoingMessage

_LATE_SECONDS: Final = 300


@examined
def outgoing_messages() -> Iterator[CheckMessage]:
    """Ask whether messages wait that should have been sent by now."""
    late = OutgoingMessage.objects.filter(due_at__lt=seconds_ahead(-_LATE_SECONDS)).count()
    if late:
        yield Error(
            f"{late:,} messages wait for more than {_LATE_SECONDS // 60} minutes to be sent",
            hint="servers send them: see that one runs and what its log says, and try the connector's test",
            id="messages.E001",
        )
