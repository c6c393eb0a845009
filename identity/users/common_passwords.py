"""Common passwords, which guesses try first."""

from functools import cache

from django.contrib.auth.password_validation import CommonPasswordValidator


def is_common(password: str) -> bool:
    """Return whether a password is one of the 20,000 most common ones, in any case of letters."""
    return password.strip().casefold() in _read()


@cache
def _read() -> frozenset[str]:
    """Return Django's list of common passwords, in lower case. The first call reads the file."""
    return frozenset(CommonPasswordValidator().passwords)
