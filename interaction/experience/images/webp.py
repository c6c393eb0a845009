"""WebP (RFC 9649)."""

import struct
from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext_noop

from interaction.experience.images import BadPictureError, check_size

_KEPT: Final = {b"VP8X", b"VP8 ", b"VP8L", b"ALPH"}
_ANIMATED: Final = 0b0000_0010  # the flags of VP8X
_ALPHA: Final = 0b0001_0000


def is_webp(content: bytes) -> bool:
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def clean(content: bytes) -> bytes:
    """Return a WebP picture without metadata, and without anything after its end.

    Raises:
        BadPictureError: the file is damaged, too large, or animated.

    """
    kept = []
    for kind, data in _read_chunks(content):
        if kind in {b"ANIM", b"ANMF"} or (kind == b"VP8X" and data[:1] and data[0] & _ANIMATED):
            raise BadPictureError(gettext_noop("must not be animated"))
        if kind in _KEPT:
            kept.append((kind, _check(kind, data)))
    if sum(kind in {b"VP8 ", b"VP8L"} for kind, _ in kept) != 1:
        raise BadPictureError(gettext_noop("is a damaged WebP file"))
    body = b"WEBP" + b"".join(
        struct.pack("<4sI", kind, len(data)) + data + b"\0" * (len(data) % 2) for kind, data in kept
    )
    return struct.pack("<4sI", b"RIFF", len(body)) + body


def _read_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    end = 8 + int.from_bytes(content[4:8], "little")
    if end > len(content):
        raise BadPictureError(gettext_noop("is a damaged WebP file"))
    at = 12
    while at + 8 <= end:
        kind, length = struct.unpack_from("<4sI", content, at)
        if at + 8 + length > end:
            raise BadPictureError(gettext_noop("is a damaged WebP file"))
        yield kind, content[at + 8 : at + 8 + length]
        at += 8 + length + length % 2


def _check(kind: bytes, data: bytes) -> bytes:
    """Check the size that a chunk states, and return the chunk. The extended header loses its metadata."""
    if kind == b"ALPH":
        return data
    if kind == b"VP8X" and len(data) == 10:  # noqa: PLR2004 - section 2.7
        check_size(int.from_bytes(data[4:7], "little") + 1, int.from_bytes(data[7:10], "little") + 1)
        return bytes([data[0] & _ALPHA]) + data[1:]
    if kind == b"VP8L" and data[:1] == b"\x2f" and len(data) > 5:  # noqa: PLR2004 - section 3.4
        bits = int.from_bytes(data[1:5], "little")
        check_size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        return data
    if kind == b"VP8 " and data[3:6] == b"\x9d\x01\x2a" and len(data) > 10:  # noqa: PLR2004 - RFC 6386, 9.1
        width, height = struct.unpack_from("<HH", data, 6)
        check_size(width & 0x3FFF, height & 0x3FFF)
        return data
    raise BadPictureError(gettext_noop("is a damaged WebP file"))
