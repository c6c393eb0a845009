"""The rule for the countries to which text messages are sent."""

from collections.abc import Sequence

import phonenumbers

from identity.core.errors import Invalid


def check(phone: str, countries: Sequence[str]) -> None:
    """Check that a phone number belongs to an allowed country. An empty list allows all countries.

    Raises:
        Invalid: the number belongs to another country, or has no country code.

    """
    if not is_allowed(phone, countries):
        raise Invalid(
            "identifier", f"must be a phone number of {', '.join(countries)}, with its country code"
        )


def is_allowed(phone: str, countries: Sequence[str]) -> bool:
    """Return whether text messages to a phone number are allowed."""
    if not countries:
        return True
    try:
        number = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        return False  # a number without a plus has no country code
    return phonenumbers.region_code_for_number(number) in countries
