"""What an administrator sees after a trial."""

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _

from identity.core.errors import ServiceError
from identity.core.refusal_texts import translate
from identity.operator_kit import routes
from identity.operator_kit.texts import Text
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.keys.jws import Parsed
from oidc.provider.trial.exchange import Received

_LONGEST: Final = 8_000  # characters of claims

# What to change, by the error that the application would get.
_ADVICE: Final[Mapping[str, Text]] = {
    "access_denied": _("The user refused, or has no role or organization that the application allows."),
    "invalid_grant": _("The code is valid once and for a short time. A user who lost access gets no tokens."),
    "invalid_request": _("Compare the organization and the API resource with those that exist for the user."),
    "invalid_scope": _("The scope must contain openid, and not too many scopes for one token."),
    "invalid_target": _("Enter the indicator of an existing API resource, or none."),
    "unauthorized_client": _("Allow the grant authorization_code in the application's grant types."),
    "login_required": _("Start again, and sign in as the user."),
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
        "problem": translate(failure.message) if failure else "",
        "code": failure.reason if failure else "",
        "advice": str(_ADVICE.get(failure.reason, "")) if failure else "",
        "user": user.identifier if user else "",
        "user_url": routes.row_url(user) if user else "",
        "facts": _build_facts(received) if received.access_token else [],
        "parts": _build_parts(received),
        "ended": _describe_ends(received, is_session_ended=is_session_ended),
    }


def _build_facts(received: Received) -> list[list[str]]:
    return [
        [gettext("Granted scopes"), " ".join(received.scopes)],
        [gettext("Access token"), _describe_lifetime(received.lifetime)],
        [
            gettext("ID token"),
            pgettext("token", "issued") if received.id_token else pgettext("token", "none"),
        ],
        [
            gettext("Refresh token"),
            pgettext("token", "issued") if received.has_refresh_token else pgettext("token", "none"),
        ],
    ]


def _describe_lifetime(seconds: int) -> str:
    text = ngettext("a JWT for %(count)s second", "a JWT for %(count)s seconds", seconds)
    return text % {"count": f"{seconds:,}"}


def _build_parts(received: Received) -> list[dict[str, str]]:
    parts = [
        _describe_token(gettext("ID token"), "id-token", received.id_token),
        _describe_token(gettext("Access token"), "access-token", received.access_token),
    ]
    if received.access_token:
        form = (
            gettext("Signed with %(algorithm)s.") % {"algorithm": received.userinfo_alg}
            if received.userinfo_alg
            else gettext("JSON, not signed.")
        )
        parts.append(
            {
                "title": gettext("Userinfo"),
                "id": "userinfo",
                "note": gettext("Refused: %(reason)s") % {"reason": translate(received.userinfo_error)}
                if received.userinfo_error
                else form,
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
        sentences.append(gettext("The tokens are revoked."))
    if received.has_revoked_consent:
        sentences.append(gettext("The consent is withdrawn."))
    if is_session_ended:
        sentences.append(gettext("The user is signed out in this browser."))
    return sentences


def _format(document: Mapping[str, Any]) -> str:
    if not document:
        return ""
    text = orjson.dumps(dict(document), option=orjson.OPT_INDENT_2).decode()
    return text if len(text) <= _LONGEST else "\n".join((text[:_LONGEST], gettext("… (cut)")))
