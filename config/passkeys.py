"""The relying party id of passkeys."""

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit

from config import env


def relying_party_id(name: str, base_url: str) -> str:
    """Read the id: the host of ``BASE_URL``, or a domain above it."""
    host = urlsplit(base_url).hostname or ""
    value = env.text(name, host).lower()
    is_above = host.endswith(f".{value}") and "." in value.strip(".") and not _is_ip_address(host)
    if value != host and not is_above:
        raise env.refuse(name, f"must be {host}, the host of BASE_URL, or a domain above it, not {value!r}")
    return value


def _is_ip_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return False
