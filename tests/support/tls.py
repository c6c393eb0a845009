"""Real TLS in front of the server, with a certificate authority of the run's own."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import create_server, socket
from threading import Thread

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_SIGNS_CERTIFICATES = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Vouches for ``localhost`` and what is below it. What it signs is good for a day."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Authority of a test run")])
        own = _certificate(self._name, self._name, self._key.public_key())
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        own = own.add_extension(_SIGNS_CERTIFICATES, critical=True)
        self.certificate = own.sign(self._key, hashes.SHA256())

    def trust(self) -> ssl.SSLContext:
        """Return what a client believes: this authority, and nobody else."""
        return ssl.create_default_context(cadata=self.certificate.public_bytes(Encoding.PEM).decode())

    def identity(self) -> ssl.SSLContext:
        """Return what a server shows."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
        names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.DNSName("*.localhost")])
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        leaf = (
            _certificate(subject, self._name, key.public_key())
            .add_extension(names, critical=False)
            .add_extension(issuer, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        path = self._folder / "localhost.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(secret + leaf.public_bytes(Encoding.PEM))
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        shown.minimum_version = ssl.TLSVersion.TLSv1_2
        shown.load_cert_chain(path)
        return shown


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def listening() -> socket:
    """Take a free port on loopback; connections wait until something serves them."""
    return create_server(("127.0.0.1", 0))


@contextmanager
def terminated(at: socket, identity: ssl.SSLContext, port: int) -> Iterator[None]:
    """Unwrap TLS and hand every byte on to a port of loopback, as a load balancer does."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(_serve(at, identity, port))
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve(at: socket, identity: ssl.SSLContext, port: int) -> asyncio.Server:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.CancelledError):
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    return await asyncio.start_server(connected, sock=at, ssl=identity)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
