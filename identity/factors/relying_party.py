"""The relying party of WebAuthn: all tenants share its id, because they are paths of one host."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The id that passkeys are bound to, and the only origin whose pages may use them."""

    id: str
    origin: str


def current() -> RelyingParty:
    """Return the relying party of this installation."""
    return RelyingParty(settings.WEBAUTHN_RP_ID, settings.BASE_URL)


def is_available() -> bool:
    """Return whether browsers offer WebAuthn at ``BASE_URL``."""
    return not is_ip_address() and is_secure()


def is_ip_address() -> bool:
    """Return whether the host of ``BASE_URL`` is an IP address, which cannot have passkeys."""
    try:
        ipaddress.ip_address(urlsplit(settings.BASE_URL).hostname or "")
    except ValueError:
        return False
    return True


def is_secure() -> bool:
    """Return whether browsers take ``BASE_URL`` for a secure context."""
    parts = urlsplit(settings.BASE_URL)
    host = parts.hostname or ""
    return parts.scheme == "https" or host == "localhost" or host.endswith(".localhost")
