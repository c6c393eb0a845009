"""How strong a sign-in is: its level, and the value of ``acr`` that tokens name for it."""

from enum import IntEnum
from typing import Final


class Level(IntEnum):
    """The strength of a sign-in. Each level includes the ones below."""

    ONE = 1  # one factor
    TWO = 2  # two factors
    PHISHING_RESISTANT = 3  # two factors, one of which is a passkey
    HARDWARE = 4  # as 3, with a key that is proven to be in certified hardware


# The last two are of OpenID Connect Extended Authentication Profile (EAP) ACR Values 1.0.
ACR: Final = {
    Level.ONE: "urn:service:acr:1fa",
    Level.TWO: "urn:service:acr:2fa",
    Level.PHISHING_RESISTANT: "phr",
    Level.HARDWARE: "phrh",
}
