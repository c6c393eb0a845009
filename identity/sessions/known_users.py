"""The users who signed in with a browser before, as its cookie ``gatehouse-known`` lists them.

The cookie holds one mark for each of the last few users. A mark has a random device id, a MAC of the user's
id and epoch, and a MAC of each identifier of the user. A new password increments the epoch, which invalidates
earlier marks. The server stores no marks, and the cookie holds no names.

After the marks come the secrets of the browser, one for each user: see ``identity.factors.browsers``.
Releases before 0.4.0 drop them.
"""

import base64
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from identity.core import tenancy
from identity.encryption import keyring
from identity.users.identifiers import Kind
from identity.users.models import User

MAX_USERS: Final = 5
_SECRET: Final = "b."  # noqa: S105 - the prefix of a secret
_SECRET_LENGTH: Final = 43
_PURPOSE: Final = "known browsers"
_DEVICE_BYTES: Final = 9
_MAC_BYTES: Final = 12
_MIN_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class _Mark:
    key_id: str
    device: str
    user_mac: str
    identifier_macs: tuple[str, ...]

    @property
    def text(self) -> str:
        return ".".join((self.key_id, self.device, self.user_mac, *self.identifier_macs))

    def is_for(self, user: User) -> bool:
        expected = _mac(self.key_id, self.device, "person", user.pk, user.epoch)
        return hmac.compare_digest(self.user_mac, expected)

    def has_identifier(self, kind: Kind, key: str) -> bool:
        expected = _mac(self.key_id, self.device, "identifier", kind, key)
        return any(hmac.compare_digest(expected, mac) for mac in self.identifier_macs)


@dataclass(frozen=True, slots=True)
class KnownUsers:
    """The marks in a browser's cookie, whose MACs each method checks, and the secrets of the browser."""

    marks: tuple[_Mark, ...] = ()
    browser_secrets: tuple[str, ...] = ()

    def find_device(self, kind: Kind, key: str) -> str:
        """Return the device id of the mark with this identifier, or an empty string."""
        return next((mark.device for mark in self.marks if mark.has_identifier(kind, key)), "")

    def find_device_of(self, user: User) -> str:
        """Return the device id of the mark of a user with the current epoch, or an empty string."""
        return next((mark.device for mark in self.marks if mark.is_for(user)), "")

    def is_current(self, device: str, user: User) -> bool:
        """Return whether a device has a mark of this user with the current epoch."""
        return any(mark.device == device and mark.is_for(user) for mark in self.marks)

    def cookie_with(self, user: User) -> str:
        """Return the value of the cookie after a sign-in of this user. The newest user is first."""
        # A new password does not change the device id, by which failures are counted.
        device = self._device_of(user) or secrets.token_urlsafe(_DEVICE_BYTES)
        others = [mark for mark in self.marks if mark.device != device]
        marks = [mark.text for mark in [_new_mark(device, user), *others][:MAX_USERS]]
        return "~".join([*marks, *(f"{_SECRET}{secret}" for secret in self.browser_secrets)])

    def with_secret(self, secret: str, *, replaced: str = "") -> "KnownUsers":
        """Return a copy that has this secret first, and not the one that it replaces."""
        others = [known for known in self.browser_secrets if known not in {secret, replaced}]
        return KnownUsers(self.marks, (secret, *others)[:MAX_USERS])

    def _device_of(self, user: User) -> str:
        identifiers = user.get_identifier_keys().items()
        marks = (mark for mark in self.marks if any(mark.has_identifier(*known) for known in identifiers))
        return next((mark.device for mark in marks), "")


NO_KNOWN_USERS: Final = KnownUsers()


def parse(cookie: str) -> KnownUsers:
    """Return what a cookie holds, except marks that are incomplete or of a removed key."""
    marks: list[_Mark] = []
    browser_secrets: list[str] = []
    for text in cookie.split("~")[: 2 * MAX_USERS]:
        key_id, *parts = text.split(".")
        if text.startswith(_SECRET) and text.isascii() and len(text) == len(_SECRET) + _SECRET_LENGTH:
            browser_secrets.append(text.removeprefix(_SECRET))
        elif key_id in keyring.ids() and len(parts) >= _MIN_PARTS and text.isascii():
            marks.append(_Mark(key_id, parts[0], parts[1], tuple(parts[2:5])))
    return KnownUsers(tuple(marks[:MAX_USERS]), tuple(browser_secrets[:MAX_USERS]))


def _new_mark(device: str, user: User) -> _Mark:
    key_id = keyring.current_id()
    user_mac = _mac(key_id, device, "person", user.pk, user.epoch)
    identifiers = user.get_identifier_keys().items()
    identifier_macs = (_mac(key_id, device, "identifier", kind, key) for kind, key in identifiers)
    return _Mark(key_id, device, user_mac, tuple(identifier_macs))


def _mac(key_id: str, device: str, kind: str, *facts: object) -> str:
    message = " ".join([tenancy.active_id(), device, kind, *(str(fact) for fact in facts)])
    mac = keyring.mac(message, purpose=_PURPOSE, key_id=key_id)
    return base64.urlsafe_b64encode(mac[:_MAC_BYTES]).decode()
