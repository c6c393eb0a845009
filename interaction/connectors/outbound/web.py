"""HTTP requests to providers: https only, without redirects, and for at most one megabyte.

Each of these may take five seconds: a connection, its one retry, the TLS handshake, and the exchange.

Error messages never contain text from the response. Only the provider's class reads the response.
"""

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTP_PORT, HTTPS_PORT, HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import SplitResult, urlencode, urlsplit, urlunsplit

import orjson
from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill
from interaction.connectors.errors import ProviderError, Reason
from interaction.connectors.outbound import addresses
from interaction.connectors.outbound.deadline import Deadline

_LARGEST_BODY: Final = 1024 * 1024
_PRINTABLE: Final = range(0x21, 0x7F)


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a provider, which users never see. The names of ``headers`` are in lower case."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300  # noqa: PLR2004

    def json(self) -> dict[str, Any]:
        """Return the JSON object in the body; an empty object if the body is anything else."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return {}
        return document if isinstance(document, dict) else {}

    def json_list(self) -> list[Any]:
        """Return the JSON array in the body; an empty list if the body is anything else."""
        try:
            document = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return []
        return document if isinstance(document, list) else []


def parse(url: str) -> SplitResult:
    """Return the parts of a URL to which requests are allowed.

    Raises:
        ProviderError: the URL is not https, or has a user name, a password or a fragment.

    """
    if any(ord(c) not in _PRINTABLE or c in "\\\"'<>" for c in url):
        raise ProviderError(gettext_noop("must be an https URL in plain ASCII"))
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ProviderError(gettext_noop("must be an https URL")) from None
    schemes = {"https", "http"} if settings.DEVELOPMENT else {"https"}
    if parts.scheme not in schemes or not parts.hostname:
        raise ProviderError(gettext_noop("must be an https URL"))
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise ProviderError(gettext_noop("must be an https URL without user name, password and fragment"))
    return parts


def get(url: str, headers: Mapping[str, str] | None = None) -> Response:
    """GET a URL and return the response.

    Raises:
        ProviderError: the provider does not respond.

    """
    return request("GET", url, {"Accept": "application/json", **(headers or {})})


def post_form(url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Response:
    """POST a form and return the response.

    Raises:
        ProviderError: the provider does not respond.

    """
    content_type = "application/x-www-form-urlencoded"
    all_headers = {"Accept": "application/json", "Content-Type": content_type, **(headers or {})}
    return request("POST", url, all_headers, urlencode(form).encode())


def post_json(url: str, document: object, headers: Mapping[str, str] | None = None) -> Response:
    """POST a JSON document and return the response.

    Raises:
        ProviderError: the provider does not respond.

    """
    content_type = "application/json"
    all_headers = {"Accept": "application/json", "Content-Type": content_type, **(headers or {})}
    return request("POST", url, all_headers, orjson.dumps(document))


def request(method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Response:
    """Send a request and return the response, whatever its status.

    Raises:
        ProviderError: the provider does not respond.

    """
    parts = parse(url)
    host = str(parts.hostname).rstrip(".")
    path = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    secure = parts.scheme == "https"
    port = parts.port or (HTTPS_PORT if secure else HTTP_PORT)
    # Without a context, each connection would read all trusted certificates.
    connection = HTTPSConnection(host, port, context=_tls()) if secure else HTTPConnection(host, port)
    opened = addresses.connect(host, port, loopback_only=not secure)
    deadline = None
    try:
        connection.sock = _wrap_in_tls(opened, host) if secure else opened
        deadline = Deadline(addresses.TIMEOUT_SECONDS, connection.sock)
        connection.request(method, path, body, {"User-Agent": "Gatehouse", **headers})
        with connection.getresponse() as response:
            received = {name.lower(): value for name, value in response.getheaders()}
            found = Response(response.status, response.read(_LARGEST_BODY + 1), received)
    except UnicodeEncodeError:
        raise ProviderError(
            gettext_noop("the configuration contains a character that cannot be sent")
        ) from None
    except (OSError, HTTPException, ValueError) as error:
        late = isinstance(error, TimeoutError) or (deadline is not None and deadline.passed)
        if late:
            raise _took_too_long(host) from None
        raise ProviderError(_describe(error, host), Reason.UNREACHABLE) from None
    finally:
        if deadline is not None:
            deadline.cancel()
        connection.close()
        opened.close()
    if deadline.passed:
        raise _took_too_long(host)
    if len(found.body) > _LARGEST_BODY:
        raise ProviderError(
            fill(gettext_noop("the response of %(host)s is larger than one megabyte"), host=host)
        )
    return found


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _wrap_in_tls(connection: socket.socket, host: str) -> socket.socket:
    return _tls().wrap_socket(connection, server_hostname=host)


def _took_too_long(host: str) -> ProviderError:
    return ProviderError(
        fill(
            gettext_noop("%(host)s took longer than %(count)s seconds"),
            host=host,
            count=addresses.TIMEOUT_SECONDS,
        ),
        Reason.TIMED_OUT,
    )


def _describe(error: Exception, host: str) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return fill(gettext_noop("%(host)s has no trusted certificate"), host=host)
    if isinstance(error, ssl.SSLError):
        return fill(gettext_noop("%(host)s failed the TLS handshake"), host=host)
    return fill(gettext_noop("%(host)s closed the connection"), host=host)
