"""The rules for heads of requests that gunicorn's parser does not apply."""

import re
from typing import Any, Final

from gunicorn.asgi.parser import (
    InvalidHeader,
    InvalidRequestLine,
    LimitRequestHeaders,
    UnsupportedTransferCoding,
)
from gunicorn.util import split_request_uri

MOST_BYTES: Final = 65_536  # of a head

# RFC 9112 section 3.2: ``Host = uri-host [ ":" port ]``, with the hosts of RFC 3986 section 3.2.2.
_HOST: Final = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._~%!$&'()*+,;=]*)(?::[0-9]*)?")


def check(parser: Any) -> None:
    """Check the head that a parser has parsed.

    Raises:
        ParseError: it is too large; its target has a fragment; Host is missing in HTTP/1.1 or malformed; or
            its transfer coding is not ``chunked``.
        ValueError: its target names a host, which is malformed.

    """
    _check_target(parser.path)
    size, has_host = 0, parser.http_version < (1, 1)
    for name, value in parser.headers:
        size += len(name) + len(value)
        if name == b"host":
            has_host = True
            if not _HOST.fullmatch(value):
                raise InvalidHeader("malformed Host")
        elif name == b"transfer-encoding" and value.lower() != b"chunked":
            raise UnsupportedTransferCoding("a transfer coding other than chunked")
    if size > MOST_BYTES:
        raise LimitRequestHeaders("the head is too large")
    if not has_host:
        raise InvalidHeader("Host is missing")


def _check_target(target: bytes) -> None:
    if b"#" in target:  # RFC 9112 section 3.2: no form of a target has a fragment
        raise InvalidRequestLine("the target has a fragment")
    if not target.startswith(b"/"):
        split_request_uri(target.decode("latin-1"))
