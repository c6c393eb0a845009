"""The stylesheet of a tenant's brand colours, with a text colour that has enough contrast."""

import re
from typing import Final

LAYOUTS: Final = ("card", "split", "plain")
COLOUR: Final = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


def stylesheet(primary: str, dark_primary: str) -> str:
    """Return the CSS rules for the brand colours; an empty string if no colour is set."""
    light, dark = _variables(primary), _variables(dark_primary or primary)
    rules = f":root{{{light}}}" if light else ""
    if dark:
        rules += f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return rules


def _variables(colour: str) -> str:
    if not COLOUR.fullmatch(colour):
        return ""
    return f"--brand:{colour};--on-brand:{get_text_colour(colour)}"


def get_text_colour(colour: str) -> str:
    """Return black or white, whichever has more contrast on a colour (WCAG 2.2, 1.4.3)."""
    luminance = _luminance(colour)
    return "#000" if (luminance + 0.05) ** 2 > 0.05 * 1.05 else "#fff"


def get_contrast(colour: str) -> float:
    """Return the contrast of a colour with the text colour on it, from 4.58 to 21."""
    luminance = _luminance(colour)
    return max(1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05)


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    if len(digits) == 3:  # noqa: PLR2004 - #rgb
        digits = "".join(digit * 2 for digit in digits)
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]  # noqa: PLR2004
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
