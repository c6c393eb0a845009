"""Setting up an authenticator, whose secret is first stored in the session and shown as a QR code."""

from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from identity.encryption import keyring
from identity.factors import totp
from management.administrators import second_step
from management.administrators.models import Administrator

_SECRET: Final = "second_step_secret"  # noqa: S105 - the session's key for the encrypted secret


def get_secret(request: HttpRequest, administrator: Administrator) -> bytes:
    """Return the secret of the session, which stays the same until the authenticator is set up."""
    try:
        return second_step.decrypt_secret(administrator, request.session[_SECRET])
    except (KeyError, keyring.UnknownKey):
        secret = totp.new_secret()
        request.session[_SECRET] = second_step.encrypt_secret(administrator, secret)
        return secret


def end(request: HttpRequest) -> None:
    """Delete the secret from the session, after it was stored with the administrator."""
    del request.session[_SECRET]


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
