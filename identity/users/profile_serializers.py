"""Serializers of the profile of a user."""

import re
import zoneinfo
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Final

from django.utils.translation import gettext_noop
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from identity.rest.fields import Description, Line
from identity.users.profile import LONGEST_GENDER, TOP_LEVEL, Profile, merge

_BIRTHDATE: Final = re.compile(r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2}))?")
_LEAP_YEAR: Final = 2000
_LOCALE: Final = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*")


class _ProfileLine(Line):
    """One line of text. ``null`` and an empty string remove the member."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "allow_blank": True, **options})


class WebAddress(_ProfileLine):
    """An ``http`` or ``https`` URL. The server never fetches it."""

    pattern = r"^(https?://[^\s\"'<>\\\u0000-\u001f\u007f-\u009f]+)?$"

    def to_internal_value(self, data: Any) -> str:
        """Return a valid URL."""
        url = super().to_internal_value(data)
        if url and not re.fullmatch(self.pattern, url):
            raise serializers.ValidationError(gettext_noop("must be an http or https URL"))
        return url


class Birthdate(_ProfileLine):
    """A date, a year, or a date of an unknown year, which is 0000 (OpenID Connect Core 5.1)."""

    pattern = r"^([0-9]{4}(-[0-9]{2}-[0-9]{2})?)?$"

    def to_internal_value(self, data: Any) -> str:
        """Return a valid birthdate."""
        text = super().to_internal_value(data)
        if text and not _is_birthdate(text):
            raise serializers.ValidationError(
                gettext_noop("must be YYYY-MM-DD, YYYY, or 0000-MM-DD without a year")
            )
        return text


def _is_birthdate(text: str) -> bool:
    parts = _BIRTHDATE.fullmatch(text)
    if parts is None or text == "0000":
        return False
    year, month, day = parts.groups(default="1")
    try:
        date(int(year) or _LEAP_YEAR, int(month), int(day))
    except ValueError:
        return False
    return True


class TimeZone(_ProfileLine):
    """A name of the time zone database, such as Europe/Berlin."""

    def to_internal_value(self, data: Any) -> str:
        """Return a valid time zone."""
        name = super().to_internal_value(data)
        if name and name not in _time_zones():
            raise serializers.ValidationError(gettext_noop("must be a time zone such as Europe/Berlin"))
        return name


@cache
def _time_zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


class Locale(_ProfileLine):
    """A language tag (RFC 5646), such as en-GB. Some systems write an underscore (Core 5.1)."""

    pattern = r"^([A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*)?$"

    def to_internal_value(self, data: Any) -> str:
        """Return a valid language tag."""
        tag = super().to_internal_value(data)
        if tag and not _LOCALE.fullmatch(tag):
            raise serializers.ValidationError(gettext_noop("must be a language tag such as en-GB"))
        return tag


class _KnownMembers(serializers.Serializer[Any]):
    """An object of optional members that is stored as it was sent, so an unknown name is refused.

    Members without a value are left out of responses (``is_sparse``).
    """

    is_sparse = True

    def to_internal_value(self, data: Any) -> Profile:
        """Return the valid members.

        Raises:
            serializers.ValidationError: a member is unknown, or its value is invalid.

        """
        unknown = self._find_unknown(data)
        try:
            members: Profile = super().to_internal_value(data)
        except serializers.ValidationError as error:
            invalid: Any = error.detail
            raise serializers.ValidationError(unknown | invalid) from None
        if unknown:
            raise serializers.ValidationError(unknown)
        return members

    def _find_unknown(self, data: Any) -> dict[str, ErrorDetail]:
        """Return the errors of members that do not exist."""
        names = data.keys() - self.fields.keys() if isinstance(data, Mapping) else ()
        rule = f"is unknown; the members are {', '.join(self.fields)}"
        return {str(name)[:64]: ErrorDetail(rule, code="unknown") for name in names}


class AddressSerializer(_KnownMembers):
    """A postal address (OpenID Connect Core 5.1.1)."""

    formatted = Description()
    street_address = Description(max_length=512)
    locality = _ProfileLine()
    region = _ProfileLine()
    postal_code = _ProfileLine(max_length=64)
    country = _ProfileLine()


class ProfileSerializer(_KnownMembers):
    """The profile of a user. In a PATCH, ``null`` removes a member, and an address replaces the old one."""

    given_name = _ProfileLine()
    family_name = _ProfileLine()
    middle_name = _ProfileLine()
    nickname = _ProfileLine()
    profile = WebAddress(max_length=2048)
    website = WebAddress(max_length=2048)
    gender = _ProfileLine(max_length=LONGEST_GENDER)
    birthdate = Birthdate(max_length=10)
    zoneinfo = TimeZone(max_length=64)
    locale = Locale(max_length=35)
    address = AddressSerializer(required=False, allow_null=True)

    def validate_address(self, address: Profile | None) -> Profile:
        """Return the members that have a value."""
        return merge({}, address or {})


def take_top_level(fields: dict[str, Any]) -> dict[str, Any]:
    """Return validated fields of a user with those of the top level in ``profile``.

    Raises:
        serializers.ValidationError: a field and the member of the profile differ.

    """
    top_level = {name: fields[name] for name in TOP_LEVEL if name in fields}
    if not top_level:
        return fields
    profile = top_level | fields.get("profile", {})
    for name, value in top_level.items():
        if profile[name] != value:
            raise serializers.ValidationError({name: f"{name} and profile.{name} differ"}, code="conflict")
    return {name: value for name, value in fields.items() if name not in top_level} | {"profile": profile}
