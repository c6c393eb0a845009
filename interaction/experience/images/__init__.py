"""Uploaded pictures. Their format is read from their content, and only what a logo needs is kept."""

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext

MAX_BYTES: Final = 256 * 1024
MAX_SIDE: Final = 2048  # pixels


class BadPictureError(ValueError):
    """The content is no picture that can be used. The text says why."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A cleaned picture."""

    content_type: str
    content: bytes


def check_size(width: int, height: int) -> None:
    """Check the size of a picture in pixels, which decides how much memory a browser needs to show it.

    Raises:
        BadPictureError: a side is empty or too long.

    """
    if not (0 < width <= MAX_SIDE and 0 < height <= MAX_SIDE):
        raise BadPictureError(gettext("must be at most %(count)s pixels wide and high") % {"count": MAX_SIDE})
