"""Refusals before a connection parses a request, for floods of requests with passwords."""

from io import BytesIO
from typing import Any, Final

from gunicorn.asgi.parser import CallbackRequest, ParseError, PythonProtocol

from config.server import early_refusals, heads, load_shedding, raw_responses, wsgi_requests
from identity.users import passwords

_MOST_BYTES: Final = 16_384  # of a request
_METHOD: Final = b"POST "


class Overload:
    """Refuses requests of a worker by their bytes, while no hashing place is free.

    Anything unusual is left to the connection: a part of a request, several requests, a chunked body, a
    malformed request, or one after which the connection is closed.
    """

    def __init__(self, settings: Any) -> None:
        self._ends: Final = tuple(path.encode() for path in load_shedding.routes())
        self._parts: Final[list[bytes]] = []  # of the body
        self._parser: Final = PythonProtocol(
            on_body=self._parts.append,
            limit_request_line=settings.limit_request_line,
            limit_request_fields=settings.limit_request_fields,
            limit_request_field_size=settings.limit_request_field_size,
        )

    def is_active(self) -> bool:
        """Return whether no hashing place is free."""
        return passwords.is_full()

    def refuse(self, data: bytes) -> bytes | None:
        """Return the response if the bytes are exactly one request that must be refused."""
        if not data.startswith(_METHOD) or not self.is_active() or not self._may_match(data):
            return None
        request = self._parse(data)
        if request is None or request.should_close():
            return None
        answer = early_refusals.refuse(_build_environ(request, b"".join(self._parts)))
        if answer is None:
            return None
        return raw_responses.build(answer, request.method, request.version, close=False)

    def _may_match(self, data: bytes) -> bool:
        if len(data) > _MOST_BYTES:
            return False
        target = data[len(_METHOD) : data.find(b" ", len(_METHOD))]
        return target.startswith(b"/") and target.partition(b"?")[0].endswith(self._ends)

    def _parse(self, data: bytes) -> Any:
        """Return a complete request, with its body in ``_parts``, or None."""
        self._parser.reset()
        self._parts.clear()
        try:
            self._parser.feed(data)
            if self._parser.is_complete and not self._parser.remaining() and not self._parser.is_chunked:
                heads.check(self._parser)
                return CallbackRequest.from_parser(self._parser)
        except (ParseError, ValueError):  # the connection's parser refuses the request in the same way
            pass
        return None


def _build_environ(request: Any, body: bytes) -> dict[str, Any]:
    scope = {
        "method": request.method,
        "raw_path": request.raw_path,
        "query_string": request.query.encode("latin-1"),
        "http_version": f"{request.version[0]}.{request.version[1]}",
        "scheme": request.scheme,
        "headers": request.headers_bytes,
        "client": None,  # a refusal does not depend on it
        "server": ("", 0),
    }
    return wsgi_requests.build_environ(scope, BytesIO(body))
