"""The people whom a browser signed in before, as its cookie ``gatehouse-known`` says: no row, no names.

The cookie holds one mark for each of the last few people. A mark names a random device, and has a MAC
of each identifier of the person and one of the person and the epoch. Whoever changes the person's
password, or recovers it, moves the epoch: marks from before then count no more.
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

MOST: Final = 5
_PURPOSE: Final = "known browsers"
_DEVICE_BYTES: Final = 9
_MAC_BYTES: Final = 12
_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class _Mark:
    key: str
    device: str
    person: str
    identifiers: tuple[str, ...]

    @property
    def text(self) -> str:
        return ".".join((self.key, self.device, self.person, *self.identifiers))

    def has(self, expected: str, what: str, *facts: object) -> bool:
        return hmac.compare_digest(expected, _mac(self.key, self.device, what, *facts))


@dataclass(frozen=True, slots=True)
class KnownPeople:
    """What a browser's cookie says. Nothing of it is believed without its MAC."""

    marks: tuple[_Mark, ...] = ()

    def device_of(self, kind: Kind, key: str) -> str:
        """Return the device under which the browser knows an identifier, or nothing."""
        for mark in self.marks:
            expected = _mac(mark.key, mark.device, "identifier", kind, key)
            if any(hmac.compare_digest(expected, each) for each in mark.identifiers):
                return mark.device
        return ""

    def is_current(self, device: str, user: User) -> bool:
        """Tell whether a device knows this user, whose password did not change since."""
        return any(
            mark.has(mark.person, "person", user.pk, user.epoch)
            for mark in self.marks
            if mark.device == device
        )

    def with_user(self, user: User) -> str:
        """Return the cookie of the browser once this user has signed in: the newest first, and few."""
        known = next((mark for mark in self.marks if self._is_about(mark, user)), None)
        device = known.device if known else secrets.token_urlsafe(_DEVICE_BYTES)
        new = _new_mark(device, user)
        others = [mark for mark in self.marks if mark.device != device]
        return "~".join(mark.text for mark in [new, *others][:MOST])

    def _is_about(self, mark: _Mark, user: User) -> bool:
        # A device keeps its failures when its mark is renewed, also after a change of the password.
        own = (_mac(mark.key, mark.device, "identifier", kind, key) for kind, key in _identifiers(user))
        return any(each in mark.identifiers for each in own)


NOBODY_KNOWN: Final = KnownPeople()


def read(cookie: str) -> KnownPeople:
    """Return what a cookie says; marks that are not whole, or of a key that is gone, are left out."""
    marks = []
    for text in cookie.split("~")[:MOST]:
        key, *parts = text.split(".")
        if key in keyring.ids() and len(parts) >= _PARTS and text.isascii():
            marks.append(_Mark(key, parts[0], parts[1], tuple(parts[2:5])))
    return KnownPeople(tuple(marks))


def _new_mark(device: str, user: User) -> _Mark:
    key = keyring.current()
    identifiers = tuple(_mac(key, device, "identifier", kind, value) for kind, value in _identifiers(user))
    return _Mark(key, device, _mac(key, device, "person", user.pk, user.epoch), identifiers)


def _identifiers(user: User) -> list[tuple[Kind, str]]:
    keys = ((kind, getattr(user, f"{kind}_key")) for kind in Kind)
    return [(kind, key) for kind, key in keys if key]


def _mac(key: str, device: str, what: str, *facts: object) -> str:
    said = " ".join([tenancy.active_id(), device, what, *(str(fact) for fact in facts)])
    whole = keyring.mac(said, purpose=_PURPOSE, key=key)
    return base64.urlsafe_b64encode(whole[:_MAC_BYTES]).decode()
