"""Audit entries as sentences."""

import re
from typing import Final

from audit.events import Event
from audit.models import Entry
from management.site import refusal_sentences

ACTIONS: Final[dict[str, str]] = {
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
    Event.APPLICATION_REFUSE: "opening an application",
    Event.CONSENT_GRANT: "consent to an application",
    Event.CONSENT_REVOKE: "withdrawing consent",
    Event.PASSWORD_VERIFY: "verifying the password again",
    Event.ADMIN_SIGN_IN: "sign-in of an administrator",
    Event.ADMIN_PASSWORD_VERIFY: "verifying an administrator's password",
    Event.ADMIN_PROVIDER_VERIFY: "sign-in of an administrator at the provider",
    Event.ADMIN_RECOVERY_SEND: "asking for a new password of an administrator",
    Event.ADMIN_SIGN_OUT: "sign-out of an administrator",
    Event.RECOVERY_CODE_USE: "signing in with a recovery code",
    Event.CONNECTOR_TEST: "the test of a connector",
    Event.APPLICATION_TRIAL: "trying a sign-in to an application",
}
_PAST: Final = {
    "Create": "created",
    "Update": "changed",
    "Delete": "deleted",
    "Export": "exported",
    "Unlock": "unlocked",
    "Prepare": "prepared",
    "Rotate": "rotated",
    "Retry": "sent again",
    "Renew": "sent again",
    "Accept": "accepted",
    "Drop": "erased",
    "Refuse": "refused",
    "SignOut": "signed out everywhere",
}


def sentence(entry: Entry) -> str:
    """Return a sentence with what happened and, if it failed, the reason."""
    action = ACTIONS.get(entry.key)
    if action is None:
        model, _, verb = entry.key.partition(".")
        name = re.sub(r"(?<!^)(?=[A-Z])", " ", model).capitalize()
        return f"{name} was {_PAST.get(verb, verb.lower())}."
    if entry.payload.get("result") != "failed":
        return f"{action[0].upper()}{action[1:]} succeeded."
    return f"{action[0].upper()}{action[1:]} failed: {refusal_sentences.describe(entry)}."
