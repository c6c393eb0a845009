"""Usernames, emails and phones: their rules, and the keys by which they are compared.

Every text is an identifier of exactly one kind: a username contains no ``@`` and does not look like a phone.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final

import phonenumbers
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_noop

from identity.core.errors import Invalid

_SEPARATORS: Final = str.maketrans("", "", " -.()")
_PHONE: Final = re.compile(r"\+?[0-9]{5,15}")
_MAX_LENGTH: Final = {"username": 128, "email": 254}
_MAX_KEY_LENGTH: Final = 512  # NFKC expands some characters into many
_NO_EMAIL: Final = gettext_noop("must be an email address")


class Kind(StrEnum):
    """The kinds of identifiers."""

    USERNAME = "username"
    EMAIL = "email"
    PHONE = "phone"


# The kinds of identifiers to which codes and notices can be sent. "Address" alone means one of them.
ADDRESS_KINDS: Final = (Kind.EMAIL, Kind.PHONE)


def fold(text: str) -> str:
    """Return an identifier without differences in spelling: in NFKC, case folded."""
    return unicodedata.normalize("NFKC", text).casefold()


def detect_kind(identifier: str) -> Kind:
    """Return the kind of an identifier: phone by its digits, email by its ``@``, otherwise username."""
    if _PHONE.fullmatch(_compact(identifier)):
        return Kind.PHONE
    return Kind.EMAIL if "@" in identifier else Kind.USERNAME


def parse(identifier: str) -> tuple[Kind, str]:
    """Return the kind and the lookup key of an identifier, valid or not."""
    kind = detect_kind(identifier)
    if kind is Kind.PHONE:
        return kind, phone_key(_international(_compact(identifier)))
    return kind, fold(identifier.strip())


def parse_phone(text: str) -> str:
    """Return the lookup key of a phone, valid or not."""
    return phone_key(_international(_compact(text)))


def clean_username(text: str) -> str:
    """Return a valid username unchanged.

    Raises:
        Invalid: the username is empty, too long, contains white space or ``@``, or looks like a phone.

    """
    if not 1 <= len(text) <= _MAX_LENGTH["username"]:
        raise Invalid("username", gettext_noop("must have 1 to 128 characters"))
    # NFKC can expand a character to a space or to @, so the normalized form is checked too.
    plain = text + unicodedata.normalize("NFKC", text)
    if any(c.isspace() or not c.isprintable() for c in plain) or "@" in plain:
        raise Invalid("username", gettext_noop("must not contain white space, control characters or @"))
    if len(fold(text)) > _MAX_KEY_LENGTH:
        raise Invalid("username", gettext_noop("must have 1 to 128 characters after normalization"))
    if detect_kind(text) is Kind.PHONE:
        raise Invalid("username", gettext_noop("must not look like a phone number"))
    return text


def clean_email(text: str) -> str:
    """Return a valid email address unchanged.

    Raises:
        Invalid: the text is not a valid address, its local part is quoted or has ``=?``, or its key is
            too long.

    """
    try:
        validate_email(text)
    except ValidationError:
        raise Invalid("email", _NO_EMAIL) from None
    if text.startswith('"'):
        # RFC 5322 allows commas and @ in a quoted local part. A provider may read such an address as a list.
        raise Invalid("email", _NO_EMAIL)
    if "=?" in text:
        # Mail programs decode encoded words (RFC 2047), so one mailbox could have any number of addresses.
        raise Invalid("email", _NO_EMAIL)
    if not text.isprintable():
        # Django accepts any character above U+00A0 in domains.
        raise Invalid("email", gettext_noop("must not contain control characters"))
    if len(text) > _MAX_LENGTH["email"]:
        raise Invalid("email", gettext_noop("must have at most 254 characters"))
    if len(fold(text)) > _MAX_KEY_LENGTH:
        # Only characters that no domain may have expand so far.
        raise Invalid("email", _NO_EMAIL)
    return text


def clean_phone(text: str) -> str:
    """Return a phone without its separators, in E.164 if a default region is set.

    Raises:
        Invalid: without separators it is not 5 to 15 digits with an optional plus.

    """
    compact = _compact(text)
    if not _PHONE.fullmatch(compact):
        raise Invalid("phone", gettext_noop("must be 5 to 15 digits, with an optional leading +"))
    return _international(compact)


def phone_key(phone: str) -> str:
    """Return the digits of a phone, by which phones are compared."""
    return phone.removeprefix("+")


def _compact(text: str) -> str:
    return unicodedata.normalize("NFKC", text).translate(_SEPARATORS)


def _international(compact: str) -> str:
    """Return a national number of the default region in E.164, and any other number unchanged."""
    region = settings.PHONE_DEFAULT_REGION
    if not region or compact.startswith(("+", "00")):
        return compact
    # With its country code first: 49 170 … is a German mobile number, not one with the area code 49170.
    for text in (f"+{compact}", compact):
        number = _parse_number(text, region)
        if number is not None:
            international = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            # Some national numbers exceed the 15 digits of E.164 with their country code.
            return international if _PHONE.fullmatch(international) else compact
    return compact


def _parse_number(text: str, region: str) -> phonenumbers.PhoneNumber | None:
    """Return the number in a text if it is valid in the region, or None."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    return number if phonenumbers.is_valid_number_for_region(number, region) else None
