"""Wait for the messages that are to be sent."""

import time

from interaction.verification.models import OutgoingMessage
from tests.support.cast import World


def wait_until_sent(world: World) -> None:
    """Wait until every message of a tenant is sent or given up."""
    deadline = time.monotonic() + 10
    with world.active():
        while OutgoingMessage.objects.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not OutgoingMessage.objects.exists()
