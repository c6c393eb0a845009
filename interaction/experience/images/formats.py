"""Tells the format of a picture by its content, never by a name or a declared type."""

import base64
import binascii
from typing import Final

from django.utils.translation import gettext, gettext_noop

from interaction.experience.images import MAX_BYTES, BadPictureError, Picture, png, svg, webp

SCHEME: Final = "data:"


def clean(content: bytes) -> Picture:
    """Return a picture as it is stored.

    Raises:
        BadPictureError: the content is too long, or no PNG, WebP or SVG that can be used.

    """
    if len(content) > MAX_BYTES:
        raise BadPictureError(gettext("must have at most %(count)s KiB") % {"count": MAX_BYTES // 1024})
    if content.startswith(png.SIGNATURE):
        return Picture("image/png", png.clean(content))
    if webp.is_webp(content):
        return Picture("image/webp", webp.clean(content))
    return Picture("image/svg+xml", svg.clean(content))


def from_data_url(url: str) -> bytes:
    """Return the content of a base64 data URL (RFC 2397).

    Raises:
        BadPictureError: the URL is not base64.

    """
    head, comma, encoded = url.partition(",")
    try:
        if not comma or not head.endswith(";base64"):
            raise BadPictureError(gettext_noop("must be a data URL with base64"))
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise BadPictureError(gettext_noop("must be a data URL with base64")) from None


def to_data_url(picture: Picture) -> str:
    return build_data_url(picture.content_type, picture.content)


def build_data_url(content_type: str, content: bytes) -> str:
    return f"{SCHEME}{content_type};base64,{base64.b64encode(content).decode()}"
