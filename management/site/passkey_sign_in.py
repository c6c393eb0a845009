"""Sign-in of administrators with a passkey: the part of the page, and the two requests of its script."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext

from identity.factors import relying_party
from identity.factors.challenges import Ceremony
from identity.operator_kit import fresh_proof
from management.administrators import passkeys
from management.site import idle_sessions, passkey_session
from management.site.passkey_answers import answers_script, get_browser


def describe() -> dict[str, Any] | None:
    """Return the part of the sign-in page that uses passkeys, or None if the address has none."""
    if not relying_party.is_available():
        return None
    return {
        "ceremony": Ceremony.SIGN_IN.value,
        "label": gettext("Sign in with a passkey"),
        "options_url": reverse("admin:passkey-options"),
        "verify_url": reverse("admin:passkey-sign-in"),
        "autofill": True,
    }


@answers_script
def options(request: HttpRequest, body: dict[str, Any]) -> dict[str, Any]:
    """Return the options to sign in with a passkey."""
    return {"public_key": passkeys.get_sign_in_options(get_browser(request))}


@answers_script
def sign_in(request: HttpRequest, body: dict[str, Any]) -> dict[str, Any]:
    """Start a session with the answer of a passkey. Deletes expired sessions."""
    passkey = passkeys.authenticate(browser=get_browser(request), credential=body.get("credential"))
    request.session.clear_expired()
    idle_sessions.flush(request)
    idle_sessions.begin(request, passkey.administrator)
    passkey_session.store(request, passkey)
    fresh_proof.record(request)
    return {"redirect_to": reverse("admin:index")}
