"""Checks of BASE_URL, which send requests to it as users and applications do."""

import http.client
import json
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from identity.core import served_address
from identity.core.doctor_checks import doctor_check

_TIMEOUT: Final = 5  # seconds
_MAX_BYTES: Final = 256 * 1024
_MIN_DAYS_LEFT: Final = 21
_MAX_CLOCK_DIFFERENCE: Final = 10  # seconds
_COOKIE_PREFIXES: Final = ("gatehouse-", "__Host-gatehouse-")


@dataclass(slots=True)
class Visit:
    """What the requests returned: the discovery document, and the cookies of the sign-in page."""

    status: int = 0
    body: bytes = b""
    location: str = ""
    date: str = ""
    seconds_left: float | None = None
    cookies: list[str] = field(default_factory=list)


@doctor_check
def base_url() -> Iterator[CheckMessage]:
    """Fetch the discovery document from BASE_URL. Check it, the certificate, the clock and the cookies."""
    if not (settings.BASE_URL.startswith("https:") or settings.DEVELOPMENT):
        yield Warning(
            f"BASE_URL is {settings.BASE_URL}: passwords and cookies are not encrypted on the network",
            hint="put a proxy with TLS in front and set BASE_URL to its https address",
            id="address.W005",
        )
    address = served_address.get()
    try:
        visit = _visit(address)
    except ssl.SSLCertVerificationError as refused:
        yield Error(
            f"the certificate of BASE_URL is not trusted: {refused.verify_message}",
            hint="check that the certificate names this host and has not expired, and that the proxy sends "
            "the whole chain",
            id="address.E003",
        )
    except (OSError, http.client.HTTPException) as failure:
        yield Error(
            f"BASE_URL, {address}, does not respond: {_reason(failure)}",
            hint="start the server and the proxy; check the DNS name, the port and the firewall",
            id="address.E001",
        )
    else:
        yield from _document(address, visit)
        yield from _certificate(visit)
        yield from _clock(visit)
        yield from _cookies(visit)


def _visit(url: str) -> Visit:
    parts = urlsplit(url)
    connection = (
        http.client.HTTPSConnection(parts.netloc, timeout=_TIMEOUT, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(parts.netloc, timeout=_TIMEOUT)
    )
    try:
        connection.request("GET", "/.well-known/openid-configuration", headers={"Accept": "application/json"})
        visit = Visit()
        if isinstance(connection.sock, ssl.SSLSocket):
            certificate = connection.sock.getpeercert() or {}
            visit.seconds_left = ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()
        response = connection.getresponse()
        visit.status, visit.body = response.status, response.read(_MAX_BYTES)
        visit.location = (response.getheader("Location") or "").partition("?")[0]
        visit.date = response.getheader("Date") or ""
        connection.close()
        connection.request("GET", "/sign-in")
        visit.cookies = connection.getresponse().headers.get_all("Set-Cookie") or []
    finally:
        connection.close()
    return visit


def _reason(failure: Exception) -> str:
    return getattr(failure, "strerror", None) or str(failure) or type(failure).__name__


def _document(address: str, visit: Visit) -> Iterator[CheckMessage]:
    try:
        issuer = json.loads(visit.body)["issuer"] if visit.status == http.HTTPStatus.OK else None
    except (ValueError, KeyError, TypeError):
        issuer = None
    if issuer == address:
        return
    if visit.location:
        problem = f"redirects to {visit.location}"
    elif issuer is None:
        problem = f"has no discovery document: it returns status {visit.status}"
    else:
        problem = f"is served by an installation whose issuer is {issuer}"
    yield Error(
        f"BASE_URL, {address}, {problem}",
        hint="set BASE_URL to the address that people use, for the server and for this command; let the "
        "proxy forward every path unchanged",
        id="address.E002",
    )


def _certificate(visit: Visit) -> Iterator[CheckMessage]:
    if visit.seconds_left is not None and visit.seconds_left < _MIN_DAYS_LEFT * 86_400:
        yield Warning(
            f"the certificate of BASE_URL expires in {int(visit.seconds_left // 86_400)} days",
            hint="renew it, and find out why automatic renewal failed: run certbot renew, and check that the "
            "proxy was reloaded",
            id="address.W004",
        )


def _clock(visit: Visit) -> Iterator[CheckMessage]:
    try:
        difference = abs(parsedate_to_datetime(visit.date).timestamp() - time.time())
    except (TypeError, ValueError):
        return
    if difference > _MAX_CLOCK_DIFFERENCE:
        yield Warning(
            f"the clock of this machine and that of BASE_URL are {int(difference)} seconds apart",
            hint="synchronise all machines with a time server (chrony, systemd-timesyncd): the lifetimes of "
            "tokens depend on it",
            id="address.W006",
        )


def _cookies(visit: Visit) -> Iterator[CheckMessage]:
    if not settings.BASE_URL.startswith("https:"):
        return
    for cookie in visit.cookies:
        name, _, rest = cookie.partition("=")
        attributes = {part.strip().lower() for part in rest.split(";")[1:]}
        is_protected = name.startswith("__Host-") and {"secure", "path=/"} <= attributes
        if name.startswith(_COOKIE_PREFIXES) and not is_protected:
            yield Error(
                f"the cookie {name} lacks the __Host- prefix, Secure or Path=/",
                hint="run the server with this BASE_URL, and do not let the proxy rewrite cookies",
                id="address.E007",
            )
