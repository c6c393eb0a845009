"""Audit entries as sentences."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from audit.events import Event
from audit.models import Entry
from identity.core.errors import ServiceError

_DONE: Final[dict[str, str]] = {
    Event.SIGN_IN_PASSWORD: "sign-in with a password",
    Event.SIGN_IN_CODE: "sign-in with a code",
    Event.SIGN_IN_SOCIAL: "sign-in by another provider",
    Event.REGISTER_USERNAME: "registration with a username",
    Event.REGISTER_EMAIL: "registration with an email address",
    Event.REGISTER_PHONE: "registration with a phone number",
    Event.FORGOT_PASSWORD: "a new password after a forgotten one",
    Event.CODE_SEND: "sending a code",
    Event.CODE_VERIFY: "entering a code",
    Event.CODE_ALARM: "an alarm about wrong codes",
    Event.TOKEN_EXCHANGE: "issuing tokens",
    Event.TOKEN_REFRESH: "refreshing tokens",
    Event.TOKEN_REVOKE: "revoking a token",
    Event.SESSION_END: "the end of a session",
    Event.CONSENT_GRANT: "consent to an application",
    Event.CONSENT_REVOKE: "taking consent back",
    Event.PASSWORD_VERIFY: "proving the password again",
    Event.ADMIN_SIGN_IN: "sign-in of an administrator",
    Event.ADMIN_PASSWORD_VERIFY: "an administrator's password, alone or asked for again,",
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
    "invalid_client": "the application did not prove who it is: unknown client id, or a wrong secret",
    "invalid_grant": "the code or refresh token is not good any more, or belongs to another application",
    "invalid_request": "the application's request is malformed",
    "invalid_scope": "the application asked for a scope that it may not have",
    "invalid_target": "the application asked for an API resource or organization that it may not use",
    "unauthorized_client": "the application may not use this grant",
    "unsupported_grant_type": "there is no such grant",
    "access_denied": "the person said no",
    "login_required": "nobody was signed in, and the application wanted no page shown",
    "consent_required": "the person had not agreed, and the application wanted no page shown",
    "not_delivered": "the provider did not take the message",
    "server_error": "something failed on our side: the log of the server has it by the same reference",
}


def sentence(entry: Entry) -> str:
    """Return a sentence with what happened and, if it failed, the reason."""
    what = _DONE.get(entry.key)
    if what is None:
        thing, _, verb = entry.key.partition(".")
        spelled = re.sub(r"(?<!^)(?=[A-Z])", " ", thing).capitalize()
        return f"{spelled} was {_PAST.get(verb, verb.lower())}."
    if entry.payload.get("result") != "failed":
        return f"{what[0].upper()}{what[1:]} succeeded."
    return f"{what[0].upper()}{what[1:]} failed: {reason(entry.payload)}."


def reason(payload: dict[str, Any]) -> str:
    """Return the recorded reason for a failure, or "no reason was recorded"."""
    code = str(payload.get("error", ""))
    text = _PROTOCOL.get(code) or _refusals().get(code) or code.replace("_", " ") or "no reason was recorded"
    more = payload.get("reason") or payload.get("description")
    return f"{text} ({more})" if more else text


@cache
def _refusals() -> dict[str, str]:
    """Return the message of every service error, by its reason."""
    found: dict[str, str] = {}
    # Of two with the same reason, the one for end users counts, whatever the import order.
    for refusal in sorted(
        _below(ServiceError), key=lambda refusal: refusal.__module__.startswith("management.")
    ):
        found.setdefault(refusal.reason, refusal.message)
    return found


def _below(kind: type[ServiceError]) -> Iterator[type[ServiceError]]:
    for refusal in kind.__subclasses__():
        yield refusal
        yield from _below(refusal)
