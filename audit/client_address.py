"""The address and the country of a client, from the connection or the headers of trusted proxies."""

import ipaddress
import re
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest

# ``ip``, ``ip:port`` or ``[v6]:port``, as proxies write them. An IPv6 address without brackets has no port.
_HOP: Final = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]:\d{1,5}|(?P<v4>[0-9.]+):\d{1,5}|(?P<bare>[0-9A-Fa-f:.]+))"
)

# ``T1`` is what Cloudflare sends for the Tor network, which counts as a country.
_COUNTRY: Final = re.compile("[A-Z]{2}|T1")
_NO_COUNTRY: Final = "XX"


def client_address(request: HttpRequest) -> str:
    """Return the address of the client of a request."""
    return get_address(request.META)


def get_address(meta: Mapping[str, Any]) -> str:
    """Return the address of the client. ``meta`` is the environment of a request (PEP 3333).

    ``X-Forwarded-For`` is read only if the peer is a trusted proxy. The client is the right-most address in
    it that is not a trusted proxy. A hop that is not an address may come from the client, so it and
    everything before it are ignored. The address is then that of the last valid proxy.
    """
    address = str(meta.get("REMOTE_ADDR", ""))
    if address not in settings.TRUSTED_PROXIES:
        return address
    hops = [hop.strip() for hop in meta.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    for hop in reversed([hop for hop in hops if hop]):
        parsed = parse_hop(hop)
        if parsed is None:
            break
        address = parsed
        if address not in settings.TRUSTED_PROXIES:
            break
    return address


def client_country(request: HttpRequest) -> str:
    """Return the country of the client (ISO 3166-1, or T1), or an empty string if no trusted proxy sends one.

    Trusted proxies send it in the header ``COUNTRY_HEADER``, some of them as ``XX`` if it is unknown.
    """
    if not settings.COUNTRY_HEADER or request.META.get("REMOTE_ADDR", "") not in settings.TRUSTED_PROXIES:
        return ""
    country = request.headers.get(settings.COUNTRY_HEADER, "").strip().upper()
    return country if _COUNTRY.fullmatch(country) and country != _NO_COUNTRY else ""


def parse_hop(hop: str) -> str | None:
    """Return the address of a hop in canonical form without its port, or None if it is not an address."""
    match = _HOP.fullmatch(hop)
    if match is None:
        return None
    try:
        if match["v6"]:
            return str(ipaddress.IPv6Address(match["v6"]))
        if match["v4"]:
            return str(ipaddress.IPv4Address(match["v4"]))
        return str(ipaddress.ip_address(match["bare"]))
    except ValueError:
        return None
