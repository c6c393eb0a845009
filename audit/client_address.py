"""The client's address: the peer's, or the one that trusted proxies report."""

import ipaddress
import re
from typing import Final

from django.conf import settings
from django.http import HttpRequest

# ``ip``, ``ip:port`` or ``[v6]:port``, as proxies write them. An IPv6 address without brackets has no port.
_HOP: Final = re.compile(
    r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]:\d{1,5}|(?P<v4>[0-9.]+):\d{1,5}|(?P<bare>[0-9A-Fa-f:.]+))"
)


def client_address(request: HttpRequest) -> str:
    """Return the address of the client.

    ``X-Forwarded-For`` counts only from a trusted proxy: the right-most address that is not a trusted
    proxy's. A hop that is not an address is ignored together with everything before it, because the client
    may have sent it. Then the address is that of the last valid proxy.
    """
    address = str(request.META.get("REMOTE_ADDR", ""))
    if address not in settings.TRUSTED_PROXIES:
        return address
    hops = [hop.strip() for hop in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    for hop in reversed([hop for hop in hops if hop]):
        found = parse_hop(hop)
        if found is None:
            break
        address = found
        if address not in settings.TRUSTED_PROXIES:
            break
    return address


def parse_hop(hop: str) -> str | None:
    """Return the address of a hop in canonical form without its port, or none if it is not an address."""
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
