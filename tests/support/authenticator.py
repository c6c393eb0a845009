"""An authenticator application, written after RFC 6238 and RFC 4226 without code of the product."""

import base64
import hmac
import struct
import time


def code(key: str, ahead: int = 0) -> str:
    """Return the code for a key in base32, now or so many steps of 30 seconds ahead."""
    counter = struct.pack(">Q", int(time.time()) // 30 + ahead)
    mac = hmac.digest(base64.b32decode(key.replace(" ", "")), counter, "sha1")
    at = mac[-1] & 15
    return f"{(struct.unpack('>I', mac[at : at + 4])[0] & 0x7FFFFFFF) % 10**6:06}"
