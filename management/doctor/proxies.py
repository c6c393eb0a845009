"""The check that limits and the audit log use the client's address, not the proxy's."""

import ipaddress
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name

from audit.models import Entry
from identity.core.doctor_checks import doctor_check

_SAMPLE: Final = 200  # entries
_HINT: Final = (
    "set TRUSTED_PROXIES to the proxy's address as this server sees it, and let the proxy set "
    "X-Forwarded-For (docs/deployment/nginx.conf shows how); otherwise all clients share one set of limits"
)


@doctor_check
def trusted_proxies() -> Iterator[CheckMessage]:
    """Check that X-Forwarded-For is trusted and set."""
    if not settings.BASE_URL.startswith("https:"):
        return
    if not settings.TRUSTED_PROXIES:
        yield Warning(
            "TLS ends at a proxy, but TRUSTED_PROXIES is empty: X-Forwarded-For is ignored",
            hint=_HINT,
            id="proxies.W001",
        )
    # Ids increase with time.
    latest = list(Entry.objects.exclude(ip="").order_by("-pk").values_list("ip", flat=True)[:_SAMPLE])
    from_proxies = sum(map(_is_proxy, latest))
    if from_proxies * 2 > len(latest):
        yield Warning(
            f"{from_proxies} of the last {len(latest)} audit entries have the address of a proxy or of this "
            "machine as the client's",
            hint=_HINT,
            id="proxies.W002",
        )


def _is_proxy(address: str) -> bool:
    try:
        return address in settings.TRUSTED_PROXIES or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
