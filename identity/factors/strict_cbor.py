"""A check of CBOR (RFC 8949) before a library reads it.

The library accepts byte strings that end too early, repeated keys of maps, and any depth. Authenticators send
small, plain CBOR (CTAP2 canonical CBOR form), so everything else is refused.
"""

import struct
from typing import Final

MAX_DEPTH: Final = 8
MAX_ITEMS: Final = 1_000
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _SIMPLE = 0, 1, 2, 3, 4, 5, 7
_SIMPLE_VALUES: Final = {20, 21, 22}  # false, true, null
_INLINE: Final = 24
_LENGTHS: Final = {24: ">B", 25: ">H", 26: ">I", 27: ">Q"}


class NotStrict(ValueError):
    """The bytes are not CBOR, or not as plain as that of authenticators."""


def find_end(data: bytes, start: int = 0) -> int:
    """Return where the item that begins at ``start`` ends.

    Raises:
        NotStrict: the item is incomplete, too deep, too large, or has a repeated key, a tag, a float or an
            indefinite length.

    """
    return _Walker(data).end(start, 0)


def check(data: bytes) -> None:
    """Check that the bytes are one item.

    Raises:
        NotStrict: the bytes are not.

    """
    if find_end(data) != len(data):
        raise NotStrict("bytes follow the item")


class _Walker:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._items = 0

    def end(self, at: int, depth: int) -> int:
        self._items += 1
        if depth > MAX_DEPTH or self._items > MAX_ITEMS:
            raise NotStrict("the item is too deep or too large")
        kind, value, at = self._head(at)
        if kind in {_UNSIGNED, _NEGATIVE}:
            return at
        if kind in {_BYTES, _TEXT}:
            return self._end_of_string(kind, at, value)
        if kind == _ARRAY:
            for _ in range(value):
                at = self.end(at, depth + 1)
            return at
        if kind == _MAP:
            return self._end_of_map(at, value, depth)
        if kind == _SIMPLE and value in _SIMPLE_VALUES:
            return at
        raise NotStrict("the item has a type that authenticators do not send")

    def _head(self, at: int) -> tuple[int, int, int]:
        """Return the major type, its argument, and where the head ends."""
        try:
            kind, argument = divmod(self._data[at], 32)
            if argument < _INLINE:
                return kind, argument, at + 1
            if kind == _SIMPLE or argument not in _LENGTHS:
                raise NotStrict("the item is a float or has an indefinite length")
            form = _LENGTHS[argument]
            (value,) = struct.unpack_from(form, self._data, at + 1)
        except (IndexError, struct.error):
            raise NotStrict("the item is incomplete") from None
        return kind, value, at + 1 + struct.calcsize(form)

    def _end_of_string(self, kind: int, at: int, length: int) -> int:
        end = at + length
        if end > len(self._data):
            raise NotStrict("the item is incomplete")
        if kind == _TEXT:
            try:
                self._data[at:end].decode()
            except UnicodeDecodeError:
                raise NotStrict("the text is not UTF-8") from None
        return end

    def _end_of_map(self, at: int, length: int, depth: int) -> int:
        seen = set()
        for _ in range(length):
            kind, value, after = self._head(at)
            if kind not in {_UNSIGNED, _NEGATIVE, _TEXT}:
                raise NotStrict("the key of a map is neither a number nor a text")
            end = self.end(at, depth + 1)
            # A number can be encoded in several ways, so its value is compared and not its bytes.
            key = (kind, self._data[after:end] if kind == _TEXT else value)
            if key in seen:
                raise NotStrict("a map repeats a key")
            seen.add(key)
            at = self.end(end, depth + 1)
        return at
