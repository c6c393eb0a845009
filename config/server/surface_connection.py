"""A connection whose requests for surfaces are served together with those of other connections."""

from typing import Any

from config.server import raw_responses, surfaces
from config.server.connection import Connection
from identity.http.answers import Answer


class SurfaceConnection(Connection):
    """Answers a request for a surface when its batch has ended.

    If the batch has no answer, the request is served by itself, as all other requests are.
    """

    async def _serve_http_request(self, request: Any, sockname: object, peername: object) -> bool:
        """Serve a request, and return whether the connection stays open for the next one."""
        if surfaces.may_match(request.raw_path):
            environ = await self._read_environ(self._build_http_scope(request, sockname, peername))
            if environ is None:
                return False
            found = surfaces.find_for_batch(environ)
            answer = None if found is None else await self.worker.serve_in_batch(environ, found)
            if answer is not None:
                close = self._will_close(request, response_requires_close=False)
                self._send_answer(answer, request.method, request.version, close=close)
                await self._flow_control.drain()
                return not close
            self._environ = environ
        return bool(await super()._serve_http_request(request, sockname, peername))

    def _send_answer(self, answer: Answer, method: str, version: tuple[int, int], *, close: bool) -> None:
        if not self._closed:  # otherwise the client has left
            self._safe_write(raw_responses.build(answer, method, version, close=close))
