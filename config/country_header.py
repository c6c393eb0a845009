"""The reader of a setting that names an HTTP header."""

import re

from config import env


def read(name: str) -> str:
    """Return the name of an HTTP header, or an empty string.

    Raises:
        ImproperlyConfigured: it is not the name of a header.

    """
    value = env.text(name)
    if value and not re.fullmatch("[A-Za-z0-9-]+", value):
        raise env.refuse(name, "must be the name of an HTTP header, such as CF-IPCountry")
    return value
