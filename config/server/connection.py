"""A connection of a client: gunicorn's ASGI protocol, with limits on what a client can hold."""

import asyncio
import socket
import sys
from functools import partial
from http import HTTPStatus
from typing import Any, BinaryIO, Final

from gunicorn.asgi.protocol import ASGIProtocol

from config.server import body_receivers, heads, wsgi_requests
from config.server.write_progress import WriteProgress
from config.server.wsgi_requests import Message, Receive, Send

_CLOSE_SECONDS: Final = 2.0  # for the client to close its side
_CLOSE_BYTES: Final = 65_536  # that the client may still send meanwhile
_STOP_SECONDS: Final = 2.0  # for a further request while the worker stops
_LEFT_SECONDS: Final = 3.0  # for a request whose client has left


class Connection(ASGIProtocol):  # type: ignore[misc]  # gunicorn has no types
    """Serves the requests of a connection, each in a thread, once its head and a small body have arrived.

    A client that sends or reads slowly holds memory of a limited size, for a limited time, and no thread,
    unless it sends a large body or reads a response that is sent in parts.
    """

    app: Any
    _closed: bool
    _keepalive_handle: asyncio.TimerHandle | None
    _callback_parser: Any
    _body_receiver: Any
    _task: asyncio.Task[None] | None
    _progress: WriteProgress

    def __init__(self, worker: Any) -> None:
        super().__init__(worker)
        self.app = self._serve
        self._max_buffer_size = body_receivers.MOST_WAITING
        self._head_bytes = 0
        self._discarded_bytes = 0
        self._has_ended = False  # the client sends nothing more
        self._closing: asyncio.TimerHandle | None = None
        self._cancelling: asyncio.TimerHandle | None = None
        # Of the current request: the failure of a first attempt to answer it, and its environment, if read.
        self._failure: wsgi_requests.Failure | None = None
        self._environ: dict[str, Any] | None = None

    async def _serve(self, scope: Message, _: Receive, send: Send) -> None:
        environ, self._environ = self._environ, None
        if environ is None:
            environ = await self._read_environ(scope)
        if environ is None:
            return
        if wsgi_requests.is_arriving(environ["wsgi.input"]):
            with body_receivers.in_use(self._body_receiver):
                async with self.worker.large_bodies:
                    await self.worker.respond(environ, send, self)
        else:
            await self.worker.respond(environ, send, self)

    async def _read_environ(self, scope: Message) -> dict[str, Any] | None:
        """Return the environment of the current request.

        Return None, with the connection closed, if the client does not send the body.
        """
        body: BinaryIO | None = body_receivers.take_arrived(self._body_receiver)
        if body is None:
            body = await wsgi_requests.read_body(scope, partial(body_receivers.receive, self._body_receiver))
        if body is None:
            self._send_error_response(HTTPStatus.BAD_REQUEST, "")
            self._close_transport()
            return None
        environ = wsgi_requests.build_environ(scope, body)
        if self._failure is not None:
            environ[wsgi_requests.FAILURE], self._failure = self._failure, None
        return environ

    @property
    def is_closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._closed

    def end_after_response(self) -> None:
        """Keep the connection for no further request."""
        self._current_request.must_close = True

    def abort(self) -> None:
        """End the connection at once."""
        if self.transport is not None:
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request.

        Close the connection if the client's address, which limits and the audit log need, is lost.
        """
        self._progress = WriteProgress(self.worker.loop, transport, self.cfg.timeout)
        super().connection_made(transport)
        assert self._task is not None  # noqa: S101 - it serves the requests
        self._task.add_done_callback(self._break_cycles)
        self.worker.add(self)
        self._arm_keepalive_timer()
        if not transport.get_extra_info("peername") and _has_addresses(transport):
            transport.abort()  # the client has left

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all waiting. A thread that sends a response gets an error."""
        # gunicorn would keep the task, and so the connection, for seconds, also after the task has ended.
        task, self._task = self._task, None
        if self._awaiting_request and not self._finishing_calls:
            self._request_ready.set()  # the task ends at once
        elif task is not None:
            self._cancelling = self.worker.loop.call_later(_LEFT_SECONDS, task.cancel)
        super().connection_lost(exc)
        self.resume_writing()
        if self._closing is not None:
            self._closing.cancel()
        self.worker.remove(self)

    def _break_cycles(self, _: object) -> None:
        """Clear the references that form cycles with this connection, after its last request.

        Without cycles, a closed connection is freed at once. To collect many as garbage pauses the worker.
        """
        self.app = self._callback_parser = self._body_receiver = self._task = None
        if self._cancelling is not None:
            self._cancelling.cancel()

    def data_received(self, data: bytes) -> None:
        """Parse what the client sends, or discard it if the connection is being closed."""
        if self._closed:
            self._discarded_bytes += len(data)
            if self._discarded_bytes > _CLOSE_BYTES:
                self.transport.abort()
            return
        super().data_received(data)
        if self._request_ready.is_set():
            self._head_bytes = 0
            return
        self._head_bytes += len(data)
        if self._head_bytes > heads.MOST_BYTES:
            self._send_error_response(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "")
            self._close_transport()

    def _on_headers_complete(self) -> bool:
        heads.check(self._callback_parser)
        return bool(super()._on_headers_complete())

    def _feed_callback_parser(self, data: bytes) -> bool:
        try:
            is_open = bool(super()._feed_callback_parser(data))
        except ValueError:  # a malformed host in the target, or a Content-Length with thousands of digits
            self._send_error_response(HTTPStatus.BAD_REQUEST, "")
            self._close_transport()
            return False
        if self._has_ended:  # the client has sent several requests, and this is the last one
            self._note_no_more_body()
        return is_open

    def _on_body(self, chunk: bytes) -> None:
        if self._body_receiver is not None:
            super()._on_body(body_receivers.join_last(self._body_receiver, chunk))

    def _note_no_more_body(self) -> None:
        if self._body_receiver is not None and not body_receivers.is_complete(self._body_receiver):
            self._body_receiver.signal_disconnect()

    def eof_received(self) -> bool:
        """Return whether the connection stays open: until the requests that were sent are answered."""
        self._has_ended = True
        if self._closed or not self._request_ready.is_set():
            return False
        self._note_no_more_body()
        return True

    def _arm_keepalive_timer(self) -> None:
        """Begin to wait for the next request, if there can be one."""
        super()._arm_keepalive_timer()
        if self._has_ended:
            self._keepalive_timeout()
        elif not self.worker.alive:
            self.stop_soon()

    def stop_soon(self) -> None:
        """Wait for the next request, which may be on its way already, only for a moment."""
        if self._keepalive_handle is not None:
            self._keepalive_handle.cancel()
            self._keepalive_handle = self.worker.loop.call_later(_STOP_SECONDS, self._keepalive_timeout)

    def _is_websocket_upgrade(self, request: object) -> bool:
        return False

    def _send_error_response(self, status: int, message: str, extra_headers: Any = ()) -> None:
        """Refuse a malformed request, and log it.

        Neither the response nor the log has the text of the request, which can hold a secret.
        """
        if (error := sys.exception()) is not None:
            error.__traceback__ = None  # frames of the parser refer to the error and to this connection
        if self._closed:
            return
        reason, peer = HTTPStatus(status).phrase, self.transport.get_extra_info("peername")
        self.log.warning("Invalid request from ip=%s: %s", peer[0] if peer else "unknown", reason)
        super()._send_error_response(status, reason, extra_headers)

    def _close_transport(self) -> None:
        """Close our side, and the connection once the client closes its side (RFC 9112 section 9.6)."""
        if self._closed or self.transport is None:
            return
        self._closed = True
        if self._body_receiver is not None:
            self._body_receiver.signal_disconnect()
        if self._has_ended or self.transport.is_closing():
            self.transport.close()
        else:
            self.transport.write_eof()
            self._resume_reading()
        self._closing = self.worker.loop.call_later(_CLOSE_SECONDS, self._finish_closing)

    def _finish_closing(self, before: int | None = None) -> None:
        """End the connection, unless the client still reads: then look again."""
        left = self.transport.get_write_buffer_size()
        if left and (before is None or left < before):
            self._closing = self.worker.loop.call_later(self.cfg.timeout, self._finish_closing, left)
        else:
            self.transport.abort()

    def pause_writing(self) -> None:
        """Begin to wait until the client has read more."""
        super().pause_writing()
        self._progress.expect()

    def resume_writing(self) -> None:
        """Go on sending."""
        super().resume_writing()
        self._progress.stop()


def _has_addresses(transport: asyncio.Transport) -> bool:
    return transport.get_extra_info("socket").family in {socket.AF_INET, socket.AF_INET6}
