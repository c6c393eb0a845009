"""The rules for new passwords of administrators. Passwords that were set earlier stay valid."""

from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.users import common_passwords, credentials, identifiers, passwords

SHORTEST: Final = 12


def hash_new(password: str, *own: str) -> str:
    """Return the hash of a new password. ``own`` as in ``clean``. Call it outside of transactions.

    Raises:
        Invalid: as ``clean``.
        passwords.Busy: the hashing queue is full.

    """
    return passwords.hash_password(clean(password, *own))


def clean(password: str, *own: str) -> str:
    """Return a new password, unchanged. ``own`` are the username and the email of the administrator.

    In development, 6 characters are enough.

    Raises:
        Invalid: the password does not have 12 to 256 characters, is a common one, or is the username or the
            email.

    """
    if settings.DEVELOPMENT:
        return credentials.clean_password(password)
    credentials.clean_password(password, shortest=SHORTEST)
    if _fold(password) in {_fold(name) for name in own if name}:
        raise Invalid("password", gettext_noop("must not be the username or the email"))
    if common_passwords.is_common(password):
        raise Invalid("password", gettext_noop("must not be a common password"))
    return password


def _fold(text: str) -> str:
    return identifiers.fold(text.strip())
