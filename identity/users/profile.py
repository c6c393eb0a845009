"""The profile of a user: the standard claims that have no column of their own (OpenID Connect Core 5.1)."""

from typing import Any, Final

Profile = dict[str, Any]

# The members that are one line of text, in their order on pages.
TEXTS: Final = (
    *("given_name", "family_name", "middle_name", "nickname", "profile", "website", "gender", "birthdate"),
    *("zoneinfo", "locale"),
)
LONGEST_GENDER: Final = 64  # characters
ADDRESS: Final = "address"
ADDRESS_PARTS: Final = ("formatted", "street_address", "locality", "region", "postal_code", "country")
# Members that a user also has at the top level, with the same value.
TOP_LEVEL: Final = ("given_name", "family_name")


def merge(profile: Profile, changes: Profile) -> Profile:
    """Return a profile with changed members. An empty value removes its member."""
    return {name: value for name, value in (profile | changes).items() if value}


def merge_into(profile: Profile, fields: dict[str, Any]) -> dict[str, Any]:
    """Return changed fields of a user with the whole profile, if they change it."""
    return fields | {"profile": merge(profile, fields["profile"])} if "profile" in fields else fields
