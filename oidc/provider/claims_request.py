"""The ``claims`` parameter, which requests individual claims (OpenID Connect Core 5.5)."""

import json
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from oidc.provider import claims, scopes

_SUB: Final = "sub"
_ACR: Final = "acr"


class Malformed(ValueError):
    """The parameter is not a JSON object, or has a repeated member."""


@dataclass(frozen=True, slots=True)
class ClaimsRequest:
    """The supported claims of a request, at userinfo and in the ID token.

    ``subjects`` are the requested values of ``sub``; any user will do if it is unset.
    """

    userinfo: tuple[str, ...] = ()
    id_token: tuple[str, ...] = ()
    subjects: frozenset[str] | None = None

    @property
    def as_json(self) -> dict[str, list[str]]:
        """The JSON that is stored with a grant."""
        named = {"userinfo": list(self.userinfo), "id_token": list(self.id_token)}
        return {place: names for place, names in named.items() if names}

    def scopes_beyond(self, asked: tuple[str, ...]) -> list[str]:
        """Return the scopes that release the requested claims, except those that are requested as scopes."""
        wanted = {claims.SCOPE_OF[name] for name in self.userinfo + self.id_token}
        return [word for word in scopes.IDENTITY_SCOPES if word in wanted and word not in asked]


def parse(text: str) -> dict[str, Any]:
    """Return the JSON object that a client sent.

    Raises:
        Malformed: it is not a JSON object, or has a repeated member.

    """
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Malformed from None
    if not isinstance(document, dict):
        raise Malformed
    return document


def from_document(document: dict[str, Any]) -> ClaimsRequest:
    """Return the supported part of a request. Core 5.5: members that are not understood MUST be ignored."""
    return ClaimsRequest(_known(document, "userinfo"), _known(document, "id_token"), _subjects(document))


def from_json(stored: dict[str, list[str]]) -> ClaimsRequest:
    """Return the request that is stored with a grant."""
    return ClaimsRequest(tuple(stored.get("userinfo", ())), tuple(stored.get("id_token", ())))


def demands_acr(document: dict[str, Any]) -> bool:
    """Tell whether the ID token must carry one of certain values of ``acr`` (Core 5.5.1.1)."""
    wanted = _members(document, "id_token").get(_ACR)
    return isinstance(wanted, dict) and wanted.get("essential") is True and _values(wanted) is not None


def _known(document: dict[str, Any], place: str) -> tuple[str, ...]:
    asked = _members(document, place)
    # Core 5.5.1: null, or an object. The members of the object cannot change the value of a claim.
    return tuple(n for n in claims.SCOPE_OF if n in asked and isinstance(asked[n], dict | None))


def _members(document: dict[str, Any], place: str) -> dict[str, Any]:
    found = document.get(place)
    return found if isinstance(found, dict) else {}


def _subjects(document: dict[str, Any]) -> frozenset[str] | None:
    """Return the subjects that both places allow: any other subject is refused (Core 3.1.2.2)."""
    subjects: frozenset[str] | None = None
    for place in ("userinfo", "id_token"):
        wanted = _members(document, place).get(_SUB)
        values = _values(wanted) if isinstance(wanted, dict) else None
        if values is not None:
            named = frozenset(value for value in values if isinstance(value, str))
            subjects = named if subjects is None else subjects & named
    return subjects


def _values(wanted: dict[str, Any]) -> list[Any] | None:
    """Return the values that the claim may have, or None if any value will do."""
    if wanted.get("value") is not None:
        return [wanted["value"]]
    values = wanted.get("values")
    return values if isinstance(values, list) and values else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise Malformed
    return made


def _refuse(_: str) -> NoReturn:
    raise Malformed
