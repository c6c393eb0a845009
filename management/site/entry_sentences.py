"""Audit entries as sentences."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from audit.events import Event
from audit.models import Entry
from identity.core.errors import ServiceError

_ACTIONS: Final[dict[str, str]] = {
    Event.SIGN_IN_PASSWORD: "sign-in with a password",
    Event.SIGN_IN_CODE: "sign-in with a code",
    Event.SIGN_IN_SOCIAL: "sign-in by another provider",
    Event.REGISTER_USERNAME: "registration with a username",
    Event.REGISTER_EMAIL: "registration with an email address",
    Event.REGISTER_PHONE: "registration with a phone number",
    Event.FORGOT_PASSWORD: "setting a new password after a forgotten one",
    Event.CODE_SEND: "sending a code",
    Event.CODE_VERIFY: "entering a code",
    Event.CODE_ALARM: "an alarm about wrong codes",
    Event.TOKEN_EXCHANGE: "issuing tokens",
    Event.TOKEN_REFRESH: "refreshing tokens",
    Event.TOKEN_REVOKE: "revoking a token",
    Event.SESSION_END: "the end of a session",
    Event.CONSENT_GRANT: "consent to an application",
    Event.CONSENT_REVOKE: "withdrawing consent",
    Event.PASSWORD_VERIFY: "verifying the password again",
    Event.ADMIN_SIGN_IN: "sign-in of an administrator",
    Event.ADMIN_PASSWORD_VERIFY: "verifying an administrator's password",
    Event.ADMIN_SIGN_OUT: "sign-out of an administrator",
    Event.RECOVERY_CODE_USE: "signing in with a recovery code",
    Event.CONNECTOR_TEST: "the test of a connector",
}
_PAST: Final = {
    "Create": "created",
    "Update": "changed",
    "Delete": "deleted",
    "Export": "exported",
    "Prepare": "prepared",
    "Rotate": "rotated",
    "Retry": "sent again",
    "Drop": "erased",
    "Refuse": "refused",
}
# Error codes of OAuth 2 and OpenID Connect, and a few of our own.
_PROTOCOL: Final = {
    "invalid_client": "the client ID is unknown or the client secret is wrong",
    "invalid_grant": "the code or refresh token is no longer valid, or belongs to another application",
    "invalid_request": "the application's request is malformed",
    "invalid_scope": "the application asked for a scope that it may not have",
    "invalid_target": "the application asked for an API resource or organization that it may not use",
    "unauthorized_client": "the application may not use this grant",
    "unsupported_grant_type": "there is no such grant",
    "access_denied": "the user refused",
    "login_required": "the user was not signed in, and the application wanted no page shown",
    "consent_required": "the user had not consented, and the application wanted no page shown",
    "not_delivered": "the provider did not accept the message",
    "server_error": "an internal error; look for the reference in the server's log",
}


def sentence(entry: Entry) -> str:
    """Return a sentence with what happened and, if it failed, the reason."""
    action = _ACTIONS.get(entry.key)
    if action is None:
        model, _, verb = entry.key.partition(".")
        name = re.sub(r"(?<!^)(?=[A-Z])", " ", model).capitalize()
        return f"{name} was {_PAST.get(verb, verb.lower())}."
    if entry.payload.get("result") != "failed":
        return f"{action[0].upper()}{action[1:]} succeeded."
    return f"{action[0].upper()}{action[1:]} failed: {reason(entry.payload)}."


def reason(payload: dict[str, Any]) -> str:
    """Return the recorded reason for a failure, or "no reason was recorded"."""
    code = str(payload.get("error", ""))
    text = _PROTOCOL.get(code) or _refusals().get(code) or code.replace("_", " ") or "no reason was recorded"
    more = payload.get("reason") or payload.get("description")
    return f"{text} ({more})" if more else text


@cache
def _refusals() -> dict[str, str]:
    """Return the message of every service error, by its reason."""
    messages: dict[str, str] = {}
    # Of two with the same reason, the one for end users counts, whatever the import order.
    for refusal in sorted(
        _get_subclasses(ServiceError), key=lambda refusal: refusal.__module__.startswith("management.")
    ):
        messages.setdefault(refusal.reason, refusal.message)
    return messages


def _get_subclasses(kind: type[ServiceError]) -> Iterator[type[ServiceError]]:
    for refusal in kind.__subclasses__():
        yield refusal
        yield from _get_subclasses(refusal)
