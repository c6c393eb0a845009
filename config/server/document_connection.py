"""A connection whose requests for public documents are answered in the loop. Threads serve all others."""

import asyncio
import time
from functools import partial
from typing import Any, NamedTuple

from config.server import document_responses, documents
from config.server.documents import Wanted
from config.server.surface_connection import SurfaceConnection
from config.server.wsgi_requests import Failure
from identity.core import tenancy
from identity.http.answers import Answer


class _Pending(NamedTuple):
    """A request that was not parsed, because an equal one was."""

    head: bytes
    wanted: Wanted
    started: float


class DocumentConnection(SurfaceConnection):
    """Answers a request for a document as soon as a thread has read the document.

    If the read fails, Django's handler makes the response, as to any failure.

    Clients send the same bytes again and again. While no request is being served and no part of one has
    arrived, equal bytes are parsed as equal requests. So bytes that were exactly one request for a document
    are not parsed again: see ``config.server.known_heads``.
    """

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self._has_part = False  # of the head of the next request
        self._head: bytes | None = None  # of the current request, if it arrived whole and alone
        self._pending: _Pending | None = None
        self._arrived_later = b""  # what arrived after the pending request

    def data_received(self, data: bytes) -> None:
        """Answer a known request for a document, or parse what the client sends."""
        if self._is_pending():
            self._arrived_later += data
            self._pause_reading()
            return
        is_idle = self._is_idle()
        if is_idle and (wanted := self.worker.heads.find(data)) and (tenant := documents.find_tenant(wanted)):
            self._cancel_keepalive_timer()
            self._pending = _Pending(data, wanted, time.perf_counter())
            self._read(tenant, wanted, self._finish_pending)
            return
        if is_idle and (refusal := self.worker.overload.refuse(data)):
            self.worker.nr += 1
            self._safe_write(refusal)
            self._arm_keepalive_timer()
            return
        super().data_received(data)
        is_one = is_idle and self._request_ready.is_set() and not self._callback_parser.remaining()
        self._head = data if is_one else None

    def _is_pending(self) -> bool:
        return self._pending is not None and not self._closed

    def _is_idle(self) -> bool:
        """Return whether the parser is as it was before the first request, and nothing is being served."""
        return (
            self._awaiting_request
            and not self._request_ready.is_set()
            and not self._has_part
            and not self._finishing_calls
            and not self._closed
            and not self._flow_control.write_paused
            and self.worker.keeps_connections()
        )

    def _feed_callback_parser(self, data: bytes) -> bool:
        is_open = super()._feed_callback_parser(data)
        self._has_part = not self._request_ready.is_set()
        return is_open

    def _finish_pending(self, document: Answer | Failure) -> None:
        pending, self._pending = self._pending, None
        arrived_later, self._arrived_later = self._arrived_later, b""
        if self._closed or pending is None:
            return
        if isinstance(document, Answer):
            close = not self.worker.alive
            try:
                self._send_document(pending.wanted, document, started=pending.started, close=close)
            except Exception:
                self.log.exception("A document could not be sent")
                close = True
            self.worker.nr += 1
            if close:
                self._keepalive_timeout()
                return
        else:
            self._failure, self._head = document, None
            super().data_received(pending.head)
        self._resume_reading()
        if arrived_later:
            self.data_received(arrived_later)
        if not self._is_pending() and not self._request_ready.is_set():
            self._arm_keepalive_timer()

    def eof_received(self) -> bool:
        """Return whether the connection stays open: until the requests that were sent are answered."""
        self._has_ended = True
        return self._is_pending() or super().eof_received()

    async def _serve_http_request(self, request: Any, sockname: object, peername: object) -> bool:
        """Serve a request, and return whether the connection stays open for the next one."""
        wanted = documents.find(request) if self._failure is None else None
        tenant = None if wanted is None else documents.find_tenant(wanted)
        if wanted is not None and tenant is not None:
            started = time.perf_counter()
            read: asyncio.Future[Answer | Failure] = self.worker.loop.create_future()
            self._read(tenant, wanted, partial(_set_result, read))
            document = await read
            if isinstance(document, Answer):
                close = self._will_close(request, response_requires_close=False)
                self._send_document(wanted, document, started=started, close=close)
                if self._head and not close:
                    self.worker.heads.add(self._head, request, wanted)
                await self._flow_control.drain()
                return not close
            self._failure = document
        return bool(await super()._serve_http_request(request, sockname, peername))

    def _read(self, tenant: tenancy.ActiveTenant, wanted: Wanted, finish: Any) -> None:
        self.worker.read_document((tenant, documents.DOCUMENTS[wanted.route]), finish)

    def _send_document(self, wanted: Wanted, document: Answer, *, started: float, close: bool) -> None:
        answer = document_responses.build(wanted, document, started=started)
        self._send_answer(answer, wanted.method, wanted.version, close=close)


def _set_result(read: "asyncio.Future[Answer | Failure]", result: Answer | Failure) -> None:
    if not read.done():  # otherwise the client has left
        read.set_result(result)
