"""The settings of users' accounts, as a part of the sign-in experience."""

from typing import Any

import phonenumbers
from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Flag
from identity.users.profile import TEXTS


class AccountSerializer(serializers.Serializer[Any]):
    """What users can do on their account page, and which addresses and countries are allowed."""

    username_change = Flag(required=False, help_text="Whether users may change their username")
    deletion = Flag(required=False, help_text="Whether users may permanently delete their account")
    non_ascii_email_names = Flag(
        required=False,
        help_text="Whether new email addresses may have non-ASCII characters before the @",
    )
    sign_in_notice = Flag(
        required=False,
        help_text="Whether users get an email when somebody signs in with a browser that is new to the "
        "account. By default only where second factors or passkeys are on",
    )
    profile_fields = serializers.ListField(
        child=Choice(choices=TEXTS),
        required=False,
        max_length=len(TEXTS),
        help_text="The members of a user's profile that the account page and the registration page show",
    )
    sms_countries = serializers.ListField(
        child=Choice(choices=sorted(phonenumbers.SUPPORTED_REGIONS)),
        required=False,
        max_length=len(phonenumbers.SUPPORTED_REGIONS),
        help_text="The countries to which text messages are sent, as two-letter codes. An empty list allows "
        "all countries",
    )

    def validate_profile_fields(self, names: list[str]) -> list[str]:
        """Remove repeated names."""
        return list(dict.fromkeys(names))

    def validate_sms_countries(self, countries: list[str]) -> list[str]:
        """Remove repeated countries."""
        return list(dict.fromkeys(countries))
