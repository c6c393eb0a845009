"""The rule for the countries to which text messages are sent."""

from collections.abc import Sequence
from typing import Final

import phonenumbers
from phonenumbers import PhoneNumberType

from identity.core.errors import Invalid

# Calls and texts to these can cost more than to others of the country, and their owners may get a share.
_EXPENSIVE_TYPES: Final = (PhoneNumberType.PREMIUM_RATE, PhoneNumberType.SHARED_COST, PhoneNumberType.UAN)


def check(phone: str, countries: Sequence[str]) -> None:
    """Check that a phone number belongs to an allowed country. An empty list allows all numbers.

    Raises:
        Invalid: the number belongs to another country, has no country code, or is a premium-rate,
            shared-cost or company-wide number.

    """
    if not is_allowed(phone, countries):
        raise Invalid(
            "identifier",
            f"must be a phone number of {', '.join(countries)}, with its country code, "
            "and not a premium-rate, shared-cost or company-wide number",
        )


def is_allowed(phone: str, countries: Sequence[str]) -> bool:
    """Return whether text messages to a phone number are allowed."""
    if not countries:
        return True
    try:
        number = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        return False  # a number without a plus has no country code
    return (
        phonenumbers.region_code_for_number(number) in countries
        and phonenumbers.number_type(number) not in _EXPENSIVE_TYPES
    )
