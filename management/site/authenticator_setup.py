"""Setting up an authenticator, whose secret is first stored in the session and shown as a QR code."""

import time
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext

from identity.encryption import keyring
from identity.factors import totp
from management.administrators import second_step
from management.administrators.models import Administrator

_KEY: Final = "new_authenticator"


def get_secret(request: HttpRequest, administrator: Administrator) -> bytes:
    """Return the secret of the session, which stays the same for ``CONFIRM_SECONDS``.

    So a person who saw it in an unlocked browser does not know the secret that is set up later. The page says
    that an earlier secret was replaced, because the administrator may have added it to the app.
    """
    stored = request.session.get(_KEY)
    if stored is not None and 0 <= time.time() - stored["at"] <= settings.CONFIRM_SECONDS:
        with suppress(keyring.UnknownKey):
            return second_step.decrypt_secret(administrator, stored["secret"])
    secret = totp.new_secret()
    sealed = second_step.encrypt_secret(administrator, secret)
    request.session[_KEY] = {"secret": sealed, "at": int(time.time())}
    if stored is not None:
        text = gettext("A new key is shown. Delete the earlier one in your authenticator app.")
        messages.info(request, text)
    return secret


def end(request: HttpRequest) -> None:
    """Delete the secret from the session, after it was stored with the administrator."""
    del request.session[_KEY]


def get_context(administrator: Administrator, secret: bytes) -> dict[str, Any]:
    """Return the template context for an authenticator: a QR code, the key as text, and the account."""
    import segno  # noqa: PLC0415 - takes a megabyte of memory, for a page that is rarely used

    issuer = f"Gatehouse {urlsplit(settings.BASE_URL).hostname}"
    address = totp.provisioning_uri(secret, account=administrator.username, issuer=issuer)
    # White with a margin in both themes, because cameras need it.
    picture = segno.make(address, error="m").svg_data_uri(scale=4, border=4, light="#fff")
    return {
        "picture": picture,
        "key": totp.format_secret(secret),
        "account": f"{issuer}: {administrator.username}",
    }
