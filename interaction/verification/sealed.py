"""Messages on their way, as they lie in the database."""

from typing import Final

from identity.core.sealed import Sealed
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage

SEALED: Final = [Sealed("outgoing_messages", OutgoingMessage.objects.all, "sealed", outgoing.PURPOSE)]
