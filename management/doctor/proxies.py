"""Whose addresses the limits and the audit log see: people's, or the proxy's."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name

from audit.models import Entry
from identity.core.examination import examined

_LOOKED_AT: Final = 200
_HINT: Final = (
    "set TRUSTED_PROXIES to the proxy's address as this server sees it, and have the proxy set "
    "X-Forwarded-For "
    "(docs/deployment/nginx.conf shows it); without that everybody shares one set of limits"
)


@examined
def trusted_proxies() -> Iterator[CheckMessage]:
    """Ask whether X-Forwarded-For is believed, and whether it comes."""
    if not settings.BASE_URL.startswith("https:"):
        return
    if not settings.TRUSTED_PROXIES:
        yield Warning(
            "TLS ends before this server, but TRUSTED_PROXIES is empty: X-Forwarded-For is believed of "
            "nobody",
            hint=_HINT,
            id="proxies.W001",
        )
    # Ids ascend with time.
    seen = list(Entry.objects.exclude(ip="").order_by("-pk").values_list("ip", flat=True)[:_LOOKED_AT])
    of_proxies = sum(map(_is_of_a_proxy, seen))
    if of_proxies * 2 > len(seen):
        yield Warning(
            f"{of_proxies} of the last {len(seen)} audit entries name a proxy, or this machine, as the "
            "client",
            hint=_HINT,
            id="proxies.W002",
        )


def _is_of_a_proxy(address: str) -> bool:
    try:
        return address in settings.TRUSTED_PROXIES or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
