"""Which phones text messages are sent to."""

from collections.abc import Sequence

import phonenumbers

from identity.core.errors import Invalid


def check(phone: str, countries: Sequence[str]) -> None:
    """Check that a phone is of a country that messages are sent to, whoever has it. No list allows all.

    Raises:
        Invalid: it is of another country, or does not say of which.

    """
    if not is_allowed(phone, countries):
        raise Invalid(
            "identifier", f"must be a phone number of {', '.join(countries)}, with its country code"
        )


def is_allowed(phone: str, countries: Sequence[str]) -> bool:
    """Tell whether messages are sent to a phone as it is stored."""
    if not countries:
        return True
    try:
        number = phonenumbers.parse(phone)
    except phonenumbers.NumberParseException:
        return False  # without a plus nobody knows the country
    return phonenumbers.region_code_for_number(number) in countries
