"""Plain words for what the pages show. Nothing here is needed to sign users in."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from joserfc import jws
from joserfc.errors import JoseError

LONGEST_DESCRIPTION = 300
TIMES = {"exp", "iat", "nbf", "auth_time", "updated_at"}

CLAIMS = {
    "iss": "Issuer: who made this token. It must be the provider this application trusts.",
    "sub": "Subject: the user's permanent id. Store this one; names and addresses change.",
    "aud": "Audience: who the token is for. It must be this application's client id.",
    "azp": "Authorized party: the application the token was given to.",
    "exp": "Expires: after this moment the token is refused.",
    "iat": "Issued at: when the provider made the token.",
    "nbf": "Not before: the token does not count until this moment.",
    "jti": "The token's own id.",
    "auth_time": "When the user last proved who they are, for example with a password.",
    "amr": "How the user proved it: pwd is a password, otp a one-time code, pop a passkey, mfa two factors.",
    "acr": "How strong that proof was: one factor (…1fa), two (…2fa), or two that resist phishing (phr).",
    "nonce": "A random value this application sent along. It ties the token to this sign-in.",
    "at_hash": "A fingerprint of the access token. It proves the two belong together.",
    "sid": "The id of the user's session at the provider.",
    "name": "The user's full name, as they like it shown.",
    "username": "The user's sign-in name.",
    "preferred_username": "A short name the user likes to be called by.",
    "picture": "The address of the user's picture.",
    "gender": "The user's gender, if they gave one.",
    "locale": "The user's language.",
    "updated_at": "When the user's profile last changed.",
    "email": "The user's email address.",
    "email_verified": "Whether the user proved that this address is theirs.",
    "phone_number": "The user's phone number.",
    "phone_number_verified": "Whether the user proved that this number is theirs.",
    "client_id": "The application the token was issued to.",
    "scope": "What the token allows.",
    "organizations": "The organizations the user belongs to.",
    "organization_roles": "The user's roles, each as organization:role.",
    "organization_id": "The organization the token speaks for.",
    "organization_is_admin": "Whether the user administers that organization.",
}


@dataclass(frozen=True)
class Problem:
    """A page for when something went wrong: what happened, and what to do now."""

    title: str
    advice: str
    status: int = 400
    action: str = "Try again"


SIGN_IN_EXPIRED = Problem(
    "This sign-in has expired",
    "It was used already, took longer than an hour, or began in another browser. "
    "Nothing is lost: start again.",
)
WRONG_SENDER = Problem(
    "That answer came from somewhere else",
    "The provider that answered is not the one you were sent to, so the answer was thrown away. "
    "Start again, and if this repeats, tell whoever runs this application.",
)
UNTRUSTED_TOKEN = Problem(
    "The sign-in could not be verified",
    "The provider's ID token did not pass the checks, so nobody was signed in. Start again; "
    "if this repeats, compare the clocks and addresses of the two machines.",
    status=502,
)
PROVIDER_UNREACHABLE = Problem(
    "The provider is not answering yet",
    "It may still be starting. Give it a few seconds, then try again.",
    status=503,
)
PROVIDER_MISCONFIGURED = Problem(
    "The provider goes by another name",
    "It calls itself by another address than the one in DEMO_ISSUER. Set both to exactly the same address.",
    status=502,
)
FOREIGN_FORM = Problem(
    "That button was not pressed here",
    "The request came from another site, so nothing was done. Go back and use the page's own buttons.",
    status=403,
    action="Back to start",
)
NOT_FOUND = Problem("There is no such page", "Check the address, or go back to start.", 404, "Back to start")
METHOD_NOT_ALLOWED = Problem(
    "This address is for a button",
    "Go back to start and use the buttons on the page.",
    405,
    "Back to start",
)
BROKEN = Problem(
    "Something went wrong here",
    "The reason is in this application's log.",
    500,
    "Back to start",
)
ASK_THE_OWNER = "Compare this application's settings with its registration at the provider."

PROVIDER_ERRORS = {
    "access_denied": Problem(
        "You did not let this application in",
        "Nothing was shared. If that was a mistake, sign in again and choose to allow it.",
        403,
        "Sign in again",
    ),
    "login_required": Problem(
        "You need to sign in first", "The provider has no session for you.", 400, "Sign in"
    ),
    "consent_required": Problem(
        "The provider needs your permission",
        "Sign in again and allow this application.",
        400,
        "Sign in again",
    ),
    "interaction_required": Problem(
        "The provider needs to ask you something", "Sign in again and answer it.", 400, "Sign in again"
    ),
    "unmet_authentication_requirements": Problem(
        "You did not prove a second factor",
        "What you wanted to do needs one. Start again and set one up, or leave it.",
        403,
        "Sign in again",
    ),
    "invalid_grant": Problem(
        "This sign-in is over",
        "The provider no longer accepts the code or refresh token: it was used, revoked or is too old. "
        "Sign in again to get new ones.",
        400,
        "Sign in again",
    ),
    "invalid_client": Problem(
        "The provider does not recognize this application",
        "Check DEMO_CLIENT_ID and DEMO_CLIENT_SECRET.",
        502,
    ),
    "unauthorized_client": Problem("This application may not do that", ASK_THE_OWNER, 502),
    "invalid_scope": Problem("The provider refused the scopes asked for", ASK_THE_OWNER, 502),
    "invalid_request": Problem("The provider did not understand the request", ASK_THE_OWNER, 502),
    "temporarily_unavailable": Problem("The provider is busy", "Wait a moment, then try again.", 503),
    "server_error": Problem(
        "The provider had a problem", "Try again. If it repeats, the reason is in its log.", 502
    ),
}
UNKNOWN_PROVIDER_ERROR = Problem(
    "The provider could not sign you in", "Try again. If it repeats, see below for its reason."
)


@dataclass(frozen=True)
class Token:
    """A token taken apart for display. Nothing here is verified."""

    raw: str
    header: dict[str, Any] | None = None
    payload: dict[str, Any] | None = None

    @property
    def parts(self) -> list[str]:
        """Header, payload and signature of a JWT; an opaque token is one part."""
        return self.raw.split(".") if self.header else [self.raw]


def token(raw: str) -> Token:
    """Take a token apart; one that is not a JWT stays whole."""
    try:
        signed = jws.extract_compact(raw.encode())
        return Token(raw, dict(signed.headers()), json.loads(signed.payload))
    except (JoseError, ValueError):
        return Token(raw)


def claim(name: str) -> str:
    """Say what a claim means."""
    return CLAIMS.get(name, "A claim of this provider's own.")


def value(content: object) -> str:
    """Write a claim's value so that a person can read it."""
    if isinstance(content, str):
        return content
    return json.dumps(content, ensure_ascii=False)


def moment(name: str, content: object) -> datetime | None:
    """Return the time a claim stands for, if it stands for one."""
    if name not in TIMES or isinstance(content, bool) or not isinstance(content, int | float):
        return None
    try:
        return datetime.fromtimestamp(content, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def provider_error(code: str | None) -> Problem:
    """Say what an error code of the provider means to the person in front of the page."""
    return PROVIDER_ERRORS.get(code or "", UNKNOWN_PROVIDER_ERROR)


# After a step that was meant to change this.
STILL_WEAK = (
    "The API refused: it needs two factors, and you have proven one. Either you chose to go on without the "
    "second, or the provider has none: switch on second factors in its sign-in experience."
)


def step_up(claims: Mapping[str, Any], strong: Collection[str]) -> str:
    """Say whether the user has proven a second factor."""
    acr = claims.get("acr")
    if acr in strong:
        return f"You have proven a second factor: the ID token says acr {acr}."
    return "The provider asked for no second factor, or you went on without one. The ID token says so."


def shorten(text: str | None) -> str:
    """Cut a text that came from elsewhere to a length a page can bear."""
    text = text or ""
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[:LONGEST_DESCRIPTION]}…"
