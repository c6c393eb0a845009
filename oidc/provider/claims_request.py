"""The ``claims`` parameter, which requests claims one by one (OpenID Connect Core 5.5)."""

import json
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from oidc.provider import claims, scopes

_SUB: Final = "sub"
_ACR: Final = "acr"
# Grants that nodes of 0.2.0 stored keep some names in members of their own.
_NEWER: Final = {"userinfo": "newer_at_userinfo", "id_token": "newer_in_id_token"}


class Malformed(ValueError):
    """The parameter is not a JSON object, or has a repeated member."""


@dataclass(frozen=True, slots=True)
class ClaimsRequest:
    """The supported claims of a request, at userinfo and in the ID token.

    ``subjects`` are the values that ``sub`` may have, or None if it may have any.
    """

    userinfo: tuple[str, ...] = ()
    id_token: tuple[str, ...] = ()
    subjects: frozenset[str] | None = None

    @property
    def as_json(self) -> dict[str, list[str]]:
        """The JSON that is stored with a grant."""
        by_place = {"userinfo": list(self.userinfo), "id_token": list(self.id_token)}
        return {place: names for place, names in by_place.items() if names}

    def get_scopes_beyond(self, requested: tuple[str, ...]) -> list[str]:
        """Return the scopes that release the requested claims, without those in ``requested``."""
        releasing = {claims.SCOPE_OF[name] for name in self.userinfo + self.id_token}.difference(requested)
        return [scope for scope in scopes.IDENTITY_SCOPES if scope in releasing]


def parse(text: str) -> dict[str, Any]:
    """Return the JSON object that a client sent.

    Raises:
        Malformed: it is not a JSON object, or has a repeated member.

    """
    try:
        document = json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Malformed from None
    if not isinstance(document, dict):
        raise Malformed
    return document


def from_document(document: dict[str, Any]) -> ClaimsRequest:
    """Return the supported part of a request. Core 5.5: members that are not understood MUST be ignored."""
    return ClaimsRequest(
        _get_supported(document, "userinfo"), _get_supported(document, "id_token"), _get_subjects(document)
    )


def from_json(stored: dict[str, list[str]]) -> ClaimsRequest:
    """Return the request that is stored with a grant."""
    userinfo, id_token = (
        (*stored.get(place, ()), *stored.get(_NEWER[place], ())) for place in ("userinfo", "id_token")
    )
    return ClaimsRequest(userinfo, id_token)


def get_essential_acr_values(document: dict[str, Any]) -> list[str] | None:
    """Return the values of ``acr`` of which the ID token must have one, or None (Core 5.5.1.1)."""
    acr = _get_members(document, "id_token").get(_ACR)
    is_essential = isinstance(acr, dict) and acr.get("essential") is True and _get_values(acr) is not None
    return get_acr_values(document) if is_essential else None


def get_acr_values(document: dict[str, Any]) -> list[str]:
    """Return the values of ``acr`` that the ID token is asked for, in order."""
    acr = _get_members(document, "id_token").get(_ACR)
    values = _get_values(acr) if isinstance(acr, dict) else None
    return [value for value in values or () if isinstance(value, str)]


def _get_supported(document: dict[str, Any], place: str) -> tuple[str, ...]:
    requested = _get_members(document, place)
    # Core 5.5.1: null, or an object. The members of the object cannot change the value of a claim.
    return tuple(
        name for name in claims.SCOPE_OF if name in requested and isinstance(requested[name], dict | None)
    )


def _get_members(document: dict[str, Any], place: str) -> dict[str, Any]:
    members = document.get(place)
    return members if isinstance(members, dict) else {}


def _get_subjects(document: dict[str, Any]) -> frozenset[str] | None:
    """Return the values of ``sub`` that both places allow, or None if both allow any (Core 3.1.2.2)."""
    subjects: frozenset[str] | None = None
    for place in ("userinfo", "id_token"):
        requested = _get_members(document, place).get(_SUB)
        values = _get_values(requested) if isinstance(requested, dict) else None
        if values is not None:
            allowed = frozenset(value for value in values if isinstance(value, str))
            subjects = allowed if subjects is None else subjects & allowed
    return subjects


def _get_values(requested: dict[str, Any]) -> list[Any] | None:
    """Return the values that a claim may have, or None if it may have any."""
    if requested.get("value") is not None:
        return [requested["value"]]
    values = requested.get("values")
    return values if isinstance(values, list) and values else None


def _build_object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object.

    Raises:
        Malformed: it has a repeated member.

    """
    built = dict(members)
    if len(built) < len(members):
        raise Malformed
    return built


def _refuse_constant(_: str) -> NoReturn:
    raise Malformed
