"""Declarations of custom claims: a name, the source of the value, and the tokens that get it.

A source names a value. Nothing is computed, so a declaration can release only what it names.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

import orjson
from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers

from identity.rest.choices import Choice
from identity.rest.fields import Line, refuse_huge_numbers

Declaration = dict[str, Any]

ID_TOKEN: Final = "id_token"  # noqa: S105 - a place
USERINFO: Final = "userinfo"
ACCESS_TOKEN: Final = "access_token"  # noqa: S105 - a place
PLACES: Final = (ID_TOKEN, USERINFO, ACCESS_TOKEN)
MOST_BYTES: Final = 1024  # of one value, as JSON
_MOST_CLAIMS: Final = 20

USER_FIELDS: Final = (
    *("id", "username", "name", "given_name", "family_name", "email", "email_verified", "phone"),
    *("phone_verified", "avatar", "created_at", "updated_at"),
)
_FIXED: Final = {
    *(f"user.{name}" for name in USER_FIELDS),
    *("organization.id", "organization.name", "roles", "groups", "organization_roles"),
}
_PATH: Final = re.compile(
    r"(user\.profile|user\.custom_data|organization\.metadata)((?:\.[A-Za-z0-9_-]{1,64}){1,5})"
)

_NAME: Final = re.compile(r"[A-Za-z0-9_:/.-]{1,128}")
# The name of a profile claim is allowed only if the claim has that value of the profile.
_PROFILE: Final = {
    *("given_name", "family_name", "middle_name", "nickname", "profile", "website", "birthdate", "zoneinfo"),
    *("locale", "address"),
}
_RESERVED: Final = {
    *_PROFILE,
    # RFC 7519, RFC 8693, RFC 9068 and others of the registry of JWT claims.
    *("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "act", "may_act", "cnf", "scope", "client_id", "sid"),
    *("events", "entitlements", "authorization_details", "active", "token_introspection"),
    # OpenID Connect Core.
    *("name", "preferred_username", "picture", "email", "email_verified", "gender", "phone_number"),
    *("phone_number_verified", "updated_at", "azp", "nonce", "auth_time", "at_hash", "c_hash", "s_hash"),
    *("acr", "amr", "sub_jwk", "_claim_names", "_claim_sources"),
    # Gatehouse's own claims.
    *("username", "roles", "groups", "roles_truncated", "groups_truncated", "organizations", "family_id"),
    "organizations_truncated",
    *("token_type", "userinfo_claims", "consent_id", "epoch_hash", "user_epoch"),
    # Names with a special meaning in JavaScript.
    *("__proto__", "constructor", "prototype"),
}


def _is_reserved(name: str) -> bool:
    """Return whether a name is reserved, in any case: Go's encoding/json reads ``Sub`` as ``sub``."""
    return name.lower() in _RESERVED or name.lower().startswith("organization_")


def name_source(source: str | dict[str, Any]) -> str:
    """Return the name of a source for people, which does not contain the value of a constant."""
    return gettext("a constant") if isinstance(source, dict) else source


def split_path(source: str) -> tuple[str, list[str]] | None:
    """Return the root of a source that is a path, and the names below; None for any other source."""
    parts = _PATH.fullmatch(source)
    return (parts[1], parts[2].split(".")[1:]) if parts else None


class Source(serializers.JSONField):
    """The source of a claim: a name or a path as text, or an object with a constant ``value``."""

    def to_internal_value(self, data: Any) -> Any:
        """Return a valid source."""
        if isinstance(data, dict):
            return self._check_constant(data)
        if not isinstance(data, str):
            raise serializers.ValidationError(gettext_noop('must be text, or an object {"value": …}'))
        if data not in _FIXED and split_path(data) is None:
            raise serializers.ValidationError(
                gettext_noop(
                    "must be user.<field>, user.profile.<path>, user.custom_data.<path>, organization.id, "
                    "organization.name, organization.metadata.<path>, roles, groups or organization_roles"
                )
            )
        return data

    def _check_constant(self, data: dict[str, Any]) -> dict[str, Any]:
        if data.keys() != {"value"} or data["value"] in (None, ""):
            raise serializers.ValidationError(
                gettext_noop('must be {"value": …} with a value that is not empty')
            )
        if len(orjson.dumps(data["value"])) > MOST_BYTES:
            raise serializers.ValidationError(gettext_noop("must have at most 1 KiB of JSON"))
        refuse_huge_numbers(data["value"])
        return data


class CustomClaimSerializer(serializers.Serializer[Any]):
    """A custom claim."""

    name = Line(max_length=128)
    source = Source()  # type: ignore[assignment]  # a member of the declaration
    into = serializers.ListField(child=Choice(choices=PLACES), min_length=1, max_length=3)

    def validate_name(self, name: str) -> str:
        """Check the characters of a name."""
        if not _NAME.fullmatch(name):
            raise serializers.ValidationError(gettext_noop("must have only letters, digits and _ : / . -"))
        return name

    def validate_into(self, places: list[str]) -> list[str]:
        """Return the places, each once."""
        return list(dict.fromkeys(places))

    def validate(self, attrs: Declaration) -> Declaration:
        """Check that all members are present, in a PATCH too, and that the name is not reserved."""
        if missing := [name for name in self.get_fields() if name not in attrs]:
            raise serializers.ValidationError(
                dict.fromkeys(missing, gettext_noop("is required")), code="required"
            )
        name, source = attrs["name"], attrs["source"]
        is_own_value = name in _PROFILE and source in (f"user.profile.{name}", f"user.{name}")
        if _is_reserved(name) and not is_own_value:
            raise serializers.ValidationError({"name": gettext_noop("is reserved")})
        return attrs


class ApiClaimSerializer(CustomClaimSerializer):
    """A custom claim of the access tokens of an API."""

    into = serializers.ListField(child=Choice(choices=[ACCESS_TOKEN]), min_length=1, max_length=1)


def refuse_repeated_names(declared: Sequence[Declaration]) -> None:
    """Refuse declarations of the same name.

    Raises:
        serializers.ValidationError: a name is declared twice.

    """
    names = [declaration["name"] for declaration in declared]
    for index, name in enumerate(names):
        if name in names[:index]:
            problem: Any = {index: {"name": gettext_noop("is declared twice")}}
            raise serializers.ValidationError(problem, code="repeated")


class CustomClaims(serializers.ListField):
    """At most 20 custom claims with different names."""

    def __init__(self, *, child: CustomClaimSerializer, **options: Any) -> None:
        super().__init__(**{"child": child, "required": False, "max_length": _MOST_CLAIMS, **options})

    def to_internal_value(self, data: Any) -> list[Declaration]:
        """Return the valid claims."""
        declared: list[Declaration] = super().to_internal_value(data)
        refuse_repeated_names(declared)
        return [dict(declaration) for declaration in declared]
