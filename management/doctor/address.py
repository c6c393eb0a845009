"""What people and applications find at BASE_URL: asked from here, as they would."""

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

from identity.core.examination import examined

_SECONDS: Final = 5
_LARGEST: Final = 256 * 1024
_DAYS_LEFT: Final = 21
_CLOCKS_APART: Final = 10
_OURS: Final = ("gatehouse-", "__Host-gatehouse-")


@dataclass(slots=True)
class Visit:
    """What one visit found: discovery, then the sign-in page for its cookies."""

    status: int = 0
    body: bytes = b""
    location: str = ""
    date: str = ""
    seconds_left: float | None = None
    cookies: list[str] = field(default_factory=list)


@examined
def base_url() -> Iterator[CheckMessage]:
    """Ask BASE_URL for its discovery document, and look at how it comes."""
    if not (settings.BASE_URL.startswith("https:") or settings.DEVELOPMENT):
        yield Warning(
            f"BASE_URL is {settings.BASE_URL}: passwords and cookies travel in clear, and only this machine",
            hint="put a proxy with TLS in front and set BASE_URL to its https address",
            id="address.W005",
        )
    try:
        visit = _visit(settings.BASE_URL)
    except ssl.SSLCertVerificationError as refused:
        yield Error(
            f"the certificate of BASE_URL is not believed: {refused.verify_message}",
            hint="renew it, have the proxy send the whole chain, and check that it names this host",
            id="address.E003",
        )
    except (OSError, http.client.HTTPException) as failure:
        yield Error(
            f"nothing answers at BASE_URL, {settings.BASE_URL}: {_reason(failure)}",
            hint="start the server and the proxy; check the name in DNS, the port, and the firewall between",
            id="address.E001",
        )
    else:
        yield from _document(visit)
        yield from _certificate(visit)
        yield from _clock(visit)
        yield from _cookies(visit)


def _visit(url: str) -> Visit:
    parts = urlsplit(url)
    connection = (
        http.client.HTTPSConnection(parts.netloc, timeout=_SECONDS, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(parts.netloc, timeout=_SECONDS)
    )
    try:
        connection.request("GET", "/.well-known/openid-configuration", headers={"Accept": "application/json"})
        visit = Visit()
        if isinstance(connection.sock, ssl.SSLSocket):
            certificate = connection.sock.getpeercert() or {}
            visit.seconds_left = ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()
        answer = connection.getresponse()
        visit.status, visit.body = answer.status, answer.read(_LARGEST)
        visit.location = (answer.getheader("Location") or "").partition("?")[0]
        visit.date = answer.getheader("Date") or ""
        connection.close()
        connection.request("GET", "/sign-in")
        visit.cookies = connection.getresponse().headers.get_all("Set-Cookie") or []
    finally:
        connection.close()
    return visit


def _reason(failure: Exception) -> str:
    return getattr(failure, "strerror", None) or str(failure) or type(failure).__name__


def _document(visit: Visit) -> Iterator[CheckMessage]:
    try:
        issuer = json.loads(visit.body)["issuer"] if visit.status == http.HTTPStatus.OK else None
    except (ValueError, KeyError, TypeError):
        issuer = None
    if issuer == settings.BASE_URL:
        return
    if visit.location:
        what = f"leads elsewhere, to {visit.location}"
    elif issuer is None:
        what = f"has no discovery document: it answers {visit.status}"
    else:
        what = f"is served by an installation that calls itself {issuer}"
    yield Error(
        f"BASE_URL, {settings.BASE_URL}, {what}",
        hint="BASE_URL must be the address that people use, and the same for the server and for this "
        "command; "
        "have the proxy pass every path on unchanged",
        id="address.E002",
    )


def _certificate(visit: Visit) -> Iterator[CheckMessage]:
    if visit.seconds_left is not None and visit.seconds_left < _DAYS_LEFT * 86_400:
        yield Warning(
            f"the certificate of BASE_URL expires in {int(visit.seconds_left // 86_400)} days",
            hint="renew it, and see why that did not happen by itself (certbot renew, the proxy's reload)",
            id="address.W004",
        )


def _clock(visit: Visit) -> Iterator[CheckMessage]:
    try:
        apart = abs(parsedate_to_datetime(visit.date).timestamp() - time.time())
    except (TypeError, ValueError):
        return
    if apart > _CLOCKS_APART:
        yield Warning(
            f"the clock of this machine and that of BASE_URL are {int(apart)} seconds apart",
            hint="let every machine follow a time server (chrony, systemd-timesyncd): tokens are dated",
            id="address.W006",
        )


def _cookies(visit: Visit) -> Iterator[CheckMessage]:
    if not settings.BASE_URL.startswith("https:"):
        return
    for cookie in visit.cookies:
        name, _, rest = cookie.partition("=")
        attributes = {part.strip().lower() for part in rest.split(";")[1:]}
        if name.startswith(_OURS) and not (name.startswith("__Host-") and {"secure", "path=/"} <= attributes):
            yield Error(
                f"the cookie {name} comes without the __Host- prefix, Secure or Path=/",
                hint="the server runs with another BASE_URL, or the proxy rewrites cookies: let it pass "
                "them on",
                id="address.E007",
            )
