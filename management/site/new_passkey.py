"""Adding a passkey: after the password and a code, the session may create one for a few minutes."""

import time
from typing import Any, Final, cast

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext

from identity.core.errors import Invalid
from identity.factors.challenges import Ceremony
from management.administrators import passkeys
from management.administrators.models import Administrator
from management.administrators.session_check import SessionEnded
from management.site.passkey_answers import answers_script, get_browser

_KEY: Final = "new_passkey"


def allow(request: HttpRequest, administrator: Administrator) -> None:
    """Store that the administrator was re-authenticated, and the user handle of the new passkey."""
    request.session[_KEY] = {"handle": passkeys.new_handle(administrator), "at": int(time.time())}


def is_allowed(request: HttpRequest) -> bool:
    """Return whether the administrator was re-authenticated in this session within ``CONFIRM_SECONDS``."""
    stored = request.session.get(_KEY)
    return stored is not None and 0 <= time.time() - stored["at"] <= settings.CONFIRM_SECONDS


def describe() -> dict[str, Any]:
    """Return the part of the page that creates a passkey."""
    return {
        "ceremony": Ceremony.SET_UP.value,
        "label": gettext("Create passkey"),
        "options_url": reverse("admin:new-passkey-options"),
        "verify_url": reverse("admin:new-passkey"),
    }


@answers_script
def options(request: HttpRequest, body: dict[str, Any]) -> dict[str, Any]:
    """Return the options to create a passkey."""
    administrator = cast("Administrator", request.user)
    handle = _get_handle(request)
    return {
        "public_key": passkeys.get_creation_options(
            administrator, browser=get_browser(request), handle=handle
        )
    }


@answers_script
def store(request: HttpRequest, body: dict[str, Any]) -> dict[str, Any]:
    """Store a passkey. The next one needs the password again."""
    administrator = cast("Administrator", request.user)
    name = body.get("name", "")
    if not isinstance(name, str):
        raise Invalid("name", "must be a text")
    passkeys.add(
        administrator,
        browser=get_browser(request),
        handle=_get_handle(request),
        credential=body.get("credential"),
        name=" ".join(name.split()),
    )
    del request.session[_KEY]
    messages.success(request, gettext("The passkey is added. You can sign in with it."))
    return {"redirect_to": reverse("admin:own-passkeys")}


def _get_handle(request: HttpRequest) -> str:
    if not is_allowed(request):
        raise SessionEnded
    return str(request.session[_KEY]["handle"])
