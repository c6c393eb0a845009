"""The use of a passkey, as the proof of a sign-in."""

from dataclasses import dataclass

from database.chains import Chain
from identity.factors import passkeys
from identity.factors.ceremonies import ProvenPasskey
from identity.factors.models import Passkey


@dataclass(frozen=True, slots=True)
class PasskeyUse:
    """A passkey whose answer was checked. ``is_discoverable``: the browser found it without its id."""

    passkey: Passkey
    proven: ProvenPasskey
    is_discoverable: bool = False

    def succeed(self, chain: Chain | None = None) -> None:
        """Store that the passkey and its challenge are used, with the changes of the sign-in.

        Raises:
            PasskeyRefused: the challenge was used before, or the passkey was used or removed meanwhile.

        """
        passkeys.record_use(self.passkey, self.proven, is_discoverable=self.is_discoverable, chain=chain)
