"""PNG (W3C Portable Network Graphics, third edition)."""

import struct
import zlib
from collections.abc import Iterator
from typing import Final

from django.utils.translation import gettext_noop

from interaction.experience.images import BadPictureError, check_size

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_KEPT: Final = {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB"}
_ANIMATION: Final = b"acTL"


def clean(content: bytes) -> bytes:
    """Return a PNG without metadata, and without anything after its end.

    Raises:
        BadPictureError: the file is damaged, too large, or animated.

    """
    chunks = list(_read_chunks(content))
    kinds = [kind for kind, _ in chunks]
    if kinds[:1] != [b"IHDR"] or kinds[-1:] != [b"IEND"] or b"IDAT" not in kinds:
        raise BadPictureError(gettext_noop("is a damaged PNG file"))
    if _ANIMATION in kinds:
        raise BadPictureError(gettext_noop("must not be animated"))
    header = chunks[0][1]
    if len(header) != 13:  # noqa: PLR2004 - section 11.2.1
        raise BadPictureError(gettext_noop("is a damaged PNG file"))
    check_size(*struct.unpack_from(">II", header))
    return SIGNATURE + b"".join(_write(kind, data) for kind, data in chunks if kind in _KEPT)


def _read_chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Return the chunks up to the end of the picture."""
    at, kind = len(SIGNATURE), b""
    while kind != b"IEND":
        if at + 12 > len(content):
            raise BadPictureError(gettext_noop("is a damaged PNG file"))
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        checksum = content[at + 8 + length : at + 12 + length]
        if checksum != zlib.crc32(kind + data).to_bytes(4):
            raise BadPictureError(gettext_noop("is a damaged PNG file"))
        yield kind, data
        at += 12 + length


def _write(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + zlib.crc32(kind + data).to_bytes(4)
