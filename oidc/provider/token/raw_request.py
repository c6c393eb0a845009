"""Token requests as they were sent, byte by byte, for ``plans`` and ``user_plans``."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from identity.http import bodies
from oidc.provider.parameters import FORM_TYPE
from oidc.provider.surface_parts import UNUSUAL

_MOST_BYTES: Final = 1024
# What each code or refresh token changes in the requests of a client.
PRESENTED: Final = frozenset(("code", "code_verifier", "refresh_token"))
# Characters that are not encoded. The ids and secrets that Gatehouse makes have no others.
_BASIC: Final = re.compile(rb"([A-Za-z0-9_-]{1,64}):([A-Za-z0-9_-]{1,256})")
_CLIENT_ID: Final = re.compile(rb"(?:\A|&)client_id=([A-Za-z0-9_-]{1,64})(?:&|\Z)")
_SECRET: Final = re.compile(rb"(?<![^&])client_secret=([A-Za-z0-9_-]{1,256})(?=&|\Z)")
_PRESENTED: Final = re.compile(
    rb"(?<![^&])(code|code_verifier|refresh_token)=([A-Za-z0-9._~-]{1,128})(?=&|\Z)"
)


@dataclass(frozen=True, slots=True)
class RawTokenRequest:
    """A token request by its bytes and its credentials, which are not checked yet.

    ``form`` has the method of authentication and the body, without the secret and the values in
    ``presented``, by name: a refresh token, or a code and its verifier. Two requests of a tenant with the
    same ``form`` and ``client_id`` differ in these alone, and a value that is empty is not in ``presented``.
    A secret that was not sent is empty; only a request with something in ``presented`` may have none.
    """

    form: bytes
    client_id: str
    secret: str
    presented: Mapping[str, str]


class _Unreadable:
    """A body that cannot be read, for the reason that was found first."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def read(self, *_: object) -> bytes:
        """Raise the error again.

        Raises:
            OSError: always.

        """
        raise self._error


def read(environ: dict[str, Any]) -> RawTokenRequest | None:
    """Return a request that a plan may answer, or None for an unusual one. The body can be read again.

    ``environ`` is that of WSGI.
    """
    length = bodies.get_length(environ)
    if (
        environ["REQUEST_METHOD"] != "POST"
        or environ["QUERY_STRING"]
        or any(name in environ for name in UNUSUAL)
        or not _is_form(environ.get("CONTENT_TYPE", ""))
        or not length
        or length > _MOST_BYTES
    ):
        return None
    stream: Any
    try:
        body = environ["wsgi.input"].read(length)
        stream = BytesIO(body)
    except OSError as error:
        body, stream = b"", _Unreadable(error)
    environ["wsgi.input"] = stream
    return parse(environ, body) if len(body) == length else None


def _is_form(content_type: str) -> bool:
    return content_type == FORM_TYPE or content_type.partition(";")[0].strip().lower() == FORM_TYPE


def parse(environ: Mapping[str, Any], body: bytes) -> RawTokenRequest | None:
    """Return a request whose body was read, or None if it is long or has unusual credentials."""
    if len(body) > _MOST_BYTES or any(name in environ for name in UNUSUAL):
        return None
    authorization = environ.get("HTTP_AUTHORIZATION")
    return _parse_body(body) if authorization is None else _parse_basic(authorization, body)


def _parse_basic(authorization: str, body: bytes) -> RawTokenRequest | None:
    try:
        decoded = base64.b64decode(authorization.removeprefix("Basic "), validate=True)
    except ValueError:
        return None
    match = _BASIC.fullmatch(decoded)
    if match is None or not authorization.startswith("Basic "):
        return None
    form, presented = _cut_presented(body)
    return RawTokenRequest(b"basic " + form, match[1].decode(), match[2].decode(), presented)


def _parse_body(body: bytes) -> RawTokenRequest | None:
    client_id = _CLIENT_ID.search(body)
    form, secret = _cut_secret(body)
    form, presented = _cut_presented(form)
    if client_id is None or not (secret or presented):
        return None
    return RawTokenRequest(b"body " + form, client_id[1].decode(), secret, presented)


def _cut_secret(body: bytes) -> tuple[bytes, str]:
    """Return the body without the secret, and the secret. It is empty if there is none."""
    match = _SECRET.search(body)
    return (body[: match.start(1)] + body[match.end(1) :], match[1].decode()) if match else (body, "")


def _cut_presented(body: bytes) -> tuple[bytes, dict[str, str]]:
    """Return the body without the values that are presented, and these values by their names."""
    values = {name.decode(): value.decode() for name, value in _PRESENTED.findall(body)}
    return (_PRESENTED.sub(rb"\1=", body) if values else body), values
