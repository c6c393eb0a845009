"""Usernames, emails and phones: what one may look like, and when two are the same.

Whatever a person types at sign-in can mean one user only: usernames hold no ``@`` and do
not look like phones, so the shape of the text tells which kind it is.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final

import phonenumbers
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from identity.core.errors import Invalid

_SEPARATORS: Final = str.maketrans("", "", " -.()")
_PHONE: Final = re.compile(r"\+?[0-9]{5,15}")
_LONGEST: Final = {"username": 128, "email": 254}
_LONGEST_KEY: Final = 512  # some letters unfold into many


class Kind(StrEnum):
    """What an identifier is."""

    USERNAME = "username"
    EMAIL = "email"
    PHONE = "phone"


def fold(text: str) -> str:
    """Return what two spellings of the same identifier share: NFKC, then case folded."""
    return unicodedata.normalize("NFKC", text).casefold()


def kind_of(identifier: str) -> Kind:
    """Tell what a person typed: a phone by its digits, an email by its ``@``, else a username."""
    if _PHONE.fullmatch(_compact(identifier)):
        return Kind.PHONE
    return Kind.EMAIL if "@" in identifier else Kind.USERNAME


def key_of(identifier: str) -> tuple[Kind, str]:
    """Return kind and look-up key of what a person typed. It need not be valid."""
    kind = kind_of(identifier)
    if kind is Kind.PHONE:
        return kind, phone_key(_international(_compact(identifier)))
    return kind, fold(identifier.strip())


def phone_filter(text: str) -> str:
    """Return the look-up key of a phone that was typed, valid or not."""
    return phone_key(_international(_compact(text)))


def username(text: str) -> str:
    """Return a username as given.

    Raises:
        Invalid: it is empty, too long, holds white space or ``@``, or looks like a phone.

    """
    if not 1 <= len(text) <= _LONGEST["username"]:
        raise Invalid("username", "must have 1 to 128 characters")
    # As compared, not only as typed: a ligature may hold a space, and a wide sign be an @.
    plain = text + unicodedata.normalize("NFKC", text)
    if any(c.isspace() or not c.isprintable() for c in plain) or "@" in plain:
        raise Invalid("username", "must not contain white space, control characters or @")
    if len(fold(text)) > _LONGEST_KEY:
        raise Invalid("username", "must have 1 to 128 characters, written out")
    if kind_of(text) is Kind.PHONE:
        raise Invalid("username", "must not look like a phone number")
    return text


def email(text: str) -> str:
    """Return an email address as given.

    Raises:
        Invalid: it is not one.

    """
    try:
        validate_email(text)
    except ValidationError:
        raise Invalid("email", "must be an email address") from None
    if not text.isprintable():
        # RFC 5322 lets quoted local parts hold control characters.
        raise Invalid("email", "must not contain control characters")
    if len(text) > _LONGEST["email"]:
        raise Invalid("email", "must have at most 254 characters")
    return text


def phone(text: str) -> str:
    """Return a phone without its separators, in E.164 when a default region is set.

    Raises:
        Invalid: what is left is not 5 to 15 digits with an optional plus.

    """
    compact = _compact(text)
    if not _PHONE.fullmatch(compact):
        raise Invalid("phone", "must be 5 to 15 digits, with an optional leading +")
    return _international(compact)


def phone_key(phone: str) -> str:
    """Return the digits, which are what makes two phones the same."""
    return phone.removeprefix("+")


def _compact(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_SEPARATORS)


def _international(compact: str) -> str:
    """Return a national number of the default region in E.164; any other as it is, ``00`` too."""
    region = settings.PHONE_DEFAULT_REGION
    if not region or compact.startswith(("+", "00")):
        return compact
    # The region's own country code without its plus comes first: 49 170 … is no number in 0 49170.
    for text in (f"+{compact}", compact):
        number = _number(text, region)
        if number is not None:
            international = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            # Some regions have numbers that are too long with their country code (E.164: 15 digits).
            return international if _PHONE.fullmatch(international) else compact
    return compact


def _number(text: str, region: str) -> phonenumbers.PhoneNumber | None:
    """Read a number that exists in a region."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    return number if phonenumbers.is_valid_number_for_region(number, region) else None
