"""Wait for the messages that are to be sent."""

import time

from interaction.verification.models import OutgoingMessage
from tests.support.cast import World


def waits_for_nothing(world: World) -> None:
    """Until everything that was to be sent is sent or given up."""
    deadline = time.monotonic() + 10
    with world.active():
        while OutgoingMessage.objects.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not OutgoingMessage.objects.exists()
