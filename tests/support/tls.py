"""Real TLS in front of the server, with a certificate authority of the run's own."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import create_server, socket
from threading import Thread

import httpx
import trustme

from tests.support import second


class Authority:
    """Vouches for ``localhost``, what is below it, and loopback."""

    def __init__(self, folder: Path) -> None:
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def trust(self) -> ssl.SSLContext:
        """Return what a client believes: this authority, and nobody else."""
        return ssl.create_default_context(cafile=str(self.file))

    def identity(self) -> ssl.SSLContext:
        """Return what a server shows."""
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert("localhost", "*.localhost", "127.0.0.1", "::1").configure_cert(shown)
        return shown


@dataclass(frozen=True)
class Secured:
    """Where the server is, and the file with the authority that vouches for it."""

    address: str
    authority: Path

    def client(self) -> httpx.Client:
        # One answer of an application may need several answers of Gatehouse.
        return httpx.Client(verify=ssl.create_default_context(cafile=str(self.authority)), timeout=30)


@contextmanager
def running(folder: Path, **environment: str) -> Iterator[Secured]:
    """Serve at ``https://localhost``, with the issuer saying so."""
    authority, port = Authority(folder), second.free_port()
    with listening() as front:
        address = f"https://localhost:{front.getsockname()[1]}"
        with (
            second.running(PORT=str(port), BASE_URL=address, **environment),
            terminated(front, authority.identity(), port),
        ):
            yield Secured(address, authority.file)


def listening() -> socket:
    """Take a free port on loopback; connections wait until something serves them."""
    return create_server(("127.0.0.1", 0))


@contextmanager
def terminated(at: socket, identity: ssl.SSLContext, port: int) -> Iterator[None]:
    """Unwrap TLS and hand every byte on to a port of loopback, as a load balancer does."""
    loop = asyncio.new_event_loop()
    servers = loop.run_until_complete(_serve(at, identity, port))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(_stop(servers), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(at: socket, identity: ssl.SSLContext, port: int) -> list[asyncio.Server]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError), closing(writer):
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
            with closing(inner_writer):
                await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    servers = [await asyncio.start_server(connected, sock=at, ssl=identity)]
    with suppress(OSError):
        # The other address of the name: some clients try only the first that they are told.
        servers.append(await asyncio.start_server(connected, "::1", at.getsockname()[1], ssl=identity))
    return servers


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _stop(servers: list[asyncio.Server]) -> None:
    for server in servers:
        server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0)  # what was closed a moment ago is let go of by the loop
