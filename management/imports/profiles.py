"""Profiles of users in other systems, which have other rules for some members."""

from collections.abc import Mapping
from typing import Any, Final

from rest_framework.exceptions import ValidationError

from identity.users.profile import ADDRESS_PARTS, Profile, merge
from identity.users.profile_serializers import ProfileSerializer

_CAMEL_CASE: Final = {
    "givenName": "given_name",
    "familyName": "family_name",
    "middleName": "middle_name",
    "streetAddress": "street_address",
    "postalCode": "postal_code",
}


def from_names(given_name: Any, family_name: Any) -> Profile:
    """Return a profile with the first and the last name."""
    return select_valid({"given_name": given_name, "family_name": family_name})


def from_logto(profile: Mapping[str, Any]) -> Profile:
    """Return the profile of a user of Logto, whose members have names in camel case."""
    members = _to_snake_case(profile)
    address = members.pop("address", None)
    if isinstance(address, Mapping):
        parts = _to_snake_case(address)
        members["address"] = {name: parts[name] for name in ADDRESS_PARTS if name in parts}
    return select_valid(members)


def select_valid(members: Mapping[str, Any]) -> Profile:
    """Return the members that satisfy the rules of a profile and have a value.

    A user is not refused because of a member that the other system did not check.
    """
    checker = ProfileSerializer()
    valid: Profile = {}
    for name, value in members.items():
        try:
            valid |= checker.run_validation({name: value})
        except ValidationError:
            continue
    return merge({}, valid)


def _to_snake_case(members: Mapping[str, Any]) -> dict[str, Any]:
    return {_CAMEL_CASE.get(name, name): value for name, value in members.items()}
