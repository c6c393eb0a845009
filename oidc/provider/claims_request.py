"""The ``claims`` parameter: claims that are asked for one by one (OpenID Connect Core 5.5)."""

import json
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from oidc.provider import claims, scopes

_SUB: Final = "sub"
_ACR: Final = "acr"


class Malformed(ValueError):
    """The parameter is no JSON object, or says one thing twice."""


@dataclass(frozen=True, slots=True)
class ClaimsRequest:
    """The claims that we know among those asked for; at userinfo, and in the ID token.

    ``subjects`` are the people it may be answered for: anybody, if unset.
    """

    userinfo: tuple[str, ...] = ()
    id_token: tuple[str, ...] = ()
    subjects: frozenset[str] | None = None

    @property
    def kept(self) -> dict[str, list[str]]:
        """What a grant has to remember."""
        named = {"userinfo": list(self.userinfo), "id_token": list(self.id_token)}
        return {place: names for place, names in named.items() if names}

    def scopes_beyond(self, asked: tuple[str, ...]) -> list[str]:
        """Return the scopes that release what is asked for here, save those that are asked for anyway."""
        wanted = {claims.SCOPE_OF[name] for name in self.userinfo + self.id_token}
        return [word for word in scopes.IDENTITY_SCOPES if word in wanted and word not in asked]


def parse(text: str) -> dict[str, Any]:
    """Return the JSON object that a client sent.

    Raises:
        Malformed: it is none.

    """
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise Malformed from None
    if not isinstance(document, dict):
        raise Malformed
    return document


def understood(document: dict[str, Any]) -> ClaimsRequest:
    """Return what we understand of it. Core 5.5: what is not understood MUST be ignored."""
    return ClaimsRequest(_known(document, "userinfo"), _known(document, "id_token"), _subjects(document))


def restored(kept: dict[str, list[str]]) -> ClaimsRequest:
    """Return what a grant remembered."""
    return ClaimsRequest(tuple(kept.get("userinfo", ())), tuple(kept.get("id_token", ())))


def demands_acr(document: dict[str, Any]) -> bool:
    """Tell whether the ID token must carry one of certain values of ``acr`` (Core 5.5.1.1)."""
    wanted = _members(document, "id_token").get(_ACR)
    return isinstance(wanted, dict) and wanted.get("essential") is True and _values(wanted) is not None


def _known(document: dict[str, Any], place: str) -> tuple[str, ...]:
    asked = _members(document, place)
    # Core 5.5.1: null, or an object. What is in the object changes nothing: a claim has the value it has.
    return tuple(n for n in claims.SCOPE_OF if n in asked and isinstance(asked[n], dict | None))


def _members(document: dict[str, Any], place: str) -> dict[str, Any]:
    found = document.get(place)
    return found if isinstance(found, dict) else {}


def _subjects(document: dict[str, Any]) -> frozenset[str] | None:
    """Return whom both places name: with another subject there is no answer (Core 3.1.2.2)."""
    subjects: frozenset[str] | None = None
    for place in ("userinfo", "id_token"):
        wanted = _members(document, place).get(_SUB)
        values = _values(wanted) if isinstance(wanted, dict) else None
        if values is not None:
            named = frozenset(value for value in values if isinstance(value, str))
            subjects = named if subjects is None else subjects & named
    return subjects


def _values(wanted: dict[str, Any]) -> list[Any] | None:
    """Return the values of which the claim is to have one, if it is to have any in particular."""
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
