"""What an administrator sees after a trial."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

from identity.core.errors import ServiceError
from identity.operator_kit import routes
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.keys.jws import Parsed
from oidc.provider.trial.exchange import Received

_LONGEST: Final = 8_000  # characters of claims

# What to change, by the error that the application would get.
_ADVICE: Final[Mapping[str, str]] = {
    "access_denied": "The user refused, or has no role or organization that the application allows.",
    "invalid_grant": "The code is valid once and for a short time. A user who lost access gets no tokens.",
    "invalid_request": "Compare the organization and the API resource with those that exist for the user.",
    "invalid_scope": "The scope must contain openid.",
    "invalid_target": "Enter the indicator of an existing API resource, or none.",
    "unauthorized_client": "Allow the grant authorization_code in the application's grant types.",
    "login_required": "Start again, and sign in as the user.",
}


def build(
    application: Application,
    received: Received,
    failure: ServiceError | None,
    session: Session | None,
    *,
    is_session_ended: bool,
) -> dict[str, Any]:
    """Return the report of a trial. It contains claims, and no token that could be used."""
    user = session.user if session else None
    return {
        "application": application.name,
        "problem": failure.message if failure else "",
        "code": failure.reason if failure else "",
        "advice": _ADVICE.get(failure.reason, "") if failure else "",
        "user": user.identifier if user else "",
        "user_url": routes.row_url(user) if user else "",
        "facts": _build_facts(received) if received.access_token else [],
        "parts": _build_parts(received),
        "ended": _describe_ends(received, is_session_ended=is_session_ended),
    }


def _build_facts(received: Received) -> list[list[str]]:
    return [
        ["Granted scopes", " ".join(received.scopes)],
        ["Access token", f"a JWT for {received.lifetime:,} seconds"],
        ["ID token", "issued" if received.id_token else "none"],
        ["Refresh token", "issued" if received.has_refresh_token else "none"],
    ]


def _build_parts(received: Received) -> list[dict[str, str]]:
    parts = [
        _describe_token("ID token", "id-token", received.id_token),
        _describe_token("Access token", "access-token", received.access_token),
    ]
    if received.access_token:
        form = f"Signed with {received.userinfo_alg}." if received.userinfo_alg else "JSON, not signed."
        parts.append(
            {
                "title": "Userinfo",
                "id": "userinfo",
                "note": f"Refused: {received.userinfo_error}" if received.userinfo_error else form,
                "header": "",
                "claims": _format(received.userinfo),
            }
        )
    return [part for part in parts if part]


def _describe_token(title: str, anchor: str, token: Parsed | None) -> dict[str, str]:
    if token is None:
        return {}
    return {
        "title": title,
        "id": anchor,
        "note": "",
        "header": _format({"alg": token.alg, "typ": token.typ, "kid": token.kid}),
        "claims": _format(token.claims),
    }


def _describe_ends(received: Received, *, is_session_ended: bool) -> list[str]:
    sentences = []
    if received.access_token:
        sentences.append("The tokens are revoked.")
    if received.has_revoked_consent:
        sentences.append("The consent is withdrawn.")
    if is_session_ended:
        sentences.append("The user is signed out in this browser.")
    return sentences


def _format(document: Mapping[str, Any]) -> str:
    if not document:
        return ""
    text = orjson.dumps(dict(document), option=orjson.OPT_INDENT_2).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… (cut)"
