"""Rules for members of a configuration. Each returns the problem of a value; None if the value is valid."""

import re
import unicodedata
from typing import Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.users import identifiers
from interaction.connectors.errors import ProviderError
from interaction.connectors.outbound import web

_HOST: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]{0,252}[A-Za-z0-9.])?")
_DOMAIN: Final = re.compile(
    r"(?=.{4,253}\Z)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9-]{2,63}"
)
_URL_SAFE: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?")
_AWS_REGION: Final = re.compile(r"[a-z]{2,8}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}")
_LARGEST_PORT: Final = 65535
_LONGEST_URL: Final = 2048
LONGEST_NAME: Final = 256


def https_url(value: str) -> str | None:
    """A URL to which requests are allowed."""
    if len(value) > _LONGEST_URL:
        return fill(gettext_noop("must have at most %(count)s characters"), count=_LONGEST_URL)
    try:
        web.parse(value)
    except ProviderError as error:
        return error.message
    return None


def name(value: str) -> str | None:
    """A name of at most 256 characters."""
    if len(value) > LONGEST_NAME:
        return fill(gettext_noop("must have at most %(count)s characters"), count=LONGEST_NAME)
    return None


def issuer(value: str) -> str | None:
    """An OpenID issuer (OpenID Connect Discovery 1.0 section 3): a URL without a query."""
    return gettext_noop("must not have a query") if "?" in value else https_url(value)


def host(value: str) -> str | None:
    """A host name or IP address."""
    return None if _HOST.fullmatch(value) or value == "::1" else gettext_noop("must be the name of a host")


def domain(value: str) -> str | None:
    """A domain name in ASCII."""
    return None if _DOMAIN.fullmatch(value) else gettext_noop("must be a domain, such as mg.example.com")


def port(value: int) -> str | None:
    """A TCP port."""
    return (
        None
        if 1 <= value <= _LARGEST_PORT
        else fill(gettext_noop("must be between 1 and %(largest)s"), largest=_LARGEST_PORT)
    )


def email(value: str) -> str | None:
    """An email address."""
    try:
        identifiers.clean_email(value)
    except Invalid as error:
        return error.rule
    return None


def url_safe(value: str) -> str | None:
    """Text that is safe as part of a host name or path."""
    return (
        None
        if _URL_SAFE.fullmatch(value)
        else gettext_noop("must be letters, digits, dots, dashes and underscores")
    )


def aws_region(value: str) -> str | None:
    """The code of a region of Amazon Web Services."""
    return (
        None
        if _AWS_REGION.fullmatch(value)
        else gettext_noop("must be the code of a region, such as eu-central-1")
    )


def ascii_text(value: str) -> str | None:
    """Text that is safe as part of an HTTP header."""
    return None if value.isascii() and value.isprintable() else gettext_noop("must be plain ASCII")


def one_line(value: str) -> str | None:
    """Text without control characters and line breaks. This rule applies to every text."""
    if any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in value):
        return gettext_noop("must not contain control characters")
    return None
