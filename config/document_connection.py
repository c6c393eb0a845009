"""A connection whose requests for public documents are answered in the loop. Threads serve all others."""

import asyncio
import time
from functools import partial
from typing import Any

from config import document_responses, documents
from config.connection import Connection
from config.documents import Wanted
from identity.core import tenancy
from identity.http.answers import Answer


class DocumentConnection(Connection):
    """Answers a request for a document as soon as a thread has read the document.

    If the read fails, Django's handler makes the response, as to any failure.
    """

    async def _serve_http_request(self, request: Any, sockname: object, peername: object) -> bool:
        """Serve a request, and return whether the connection stays open for the next one."""
        # A request with an incomplete body is not for a document.
        wanted = documents.find(request) if self._body_receiver._complete else None  # noqa: SLF001
        tenant = documents.find_tenant(wanted) if wanted else None
        if wanted and tenant:
            started = time.perf_counter()
            document = await self._read(tenant, wanted)
            if isinstance(document, Answer):
                close = self._will_close(request, response_requires_close=False)
                self._send_document(wanted, document, started=started, close=close)
                await self._flow_control.drain()
                return not close
            self._failure = document
        return bool(await super()._serve_http_request(request, sockname, peername))

    async def _read(self, tenant: tenancy.ActiveTenant, wanted: Wanted) -> Answer | BaseException:
        read: asyncio.Future[Answer | BaseException] = self.worker.loop.create_future()
        self.worker.read_document((tenant, documents.DOCUMENTS[wanted.route]), partial(_set, read))
        return await read

    def _send_document(self, wanted: Wanted, document: Answer, *, started: float, close: bool) -> None:
        if not self._closed:  # otherwise the client has left
            self._safe_write(document_responses.build(wanted, document, started=started, close=close))


def _set(read: "asyncio.Future[Answer | BaseException]", result: Answer | BaseException) -> None:
    if not read.done():  # otherwise the client has left
        read.set_result(result)
