"""Giving an authenticator its secret: kept in the session until it is set up, and shown as a QR code."""

from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from identity.encryption import keyring
from management.administrators import second_step, totp
from management.administrators.models import Administrator

_SECRET: Final = "second_step_secret"  # noqa: S105 - where the session has it, sealed


def secret_of(request: HttpRequest, administrator: Administrator) -> bytes:
    """Return the secret that is being set up: the same until it is, however often the page is loaded."""
    try:
        return second_step.decrypt_secret(administrator, request.session[_SECRET])
    except (KeyError, keyring.UnknownKey):
        secret = totp.new_secret()
        request.session[_SECRET] = second_step.encrypt_secret(administrator, secret)
        return secret


def end(request: HttpRequest) -> None:
    """Forget the secret in the session: the administrator has it now."""
    del request.session[_SECRET]


def shown(administrator: Administrator, secret: bytes) -> dict[str, Any]:
    """Return what an authenticator is told: a QR code, the key in letters, and whose it is."""
    import segno  # noqa: PLC0415 - a megabyte of every worker, for a page that is seldom seen

    issuer = f"Gatehouse {urlsplit(settings.BASE_URL).hostname}"
    address = totp.provisioning_uri(secret, account=administrator.username, issuer=issuer)
    # On white with its margin in either theme: cameras want it so.
    picture = segno.make(address, error="m").svg_data_uri(scale=4, border=4, light="#fff")
    return {
        "picture": picture,
        "key": totp.format_secret(secret),
        "account": f"{issuer}: {administrator.username}",
    }
