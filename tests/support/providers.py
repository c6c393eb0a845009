"""Providers on loopback: an HTTP server that records its requests, and a mail server."""

import base64
import datetime as dt
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# ── HTTP ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}

    @property
    def json(self):
        return orjson.loads(self.body)


Answer = tuple[int, dict[str, str], bytes]


def answer(status: int, document: object = None, **headers: str) -> Answer:
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, orjson.dumps(document)


@dataclass
class WebProvider:
    """A provider's API: ``answers`` by path, and what it was ``asked``."""

    address: str = ""
    answers: dict[str, Answer | Callable[[Asked], Answer]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def reply(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        found = self.answers.get(asked.path, answer(404, {}))
        return found(asked) if callable(found) else found


@contextmanager
def web_provider() -> Iterator[WebProvider]:
    provider = WebProvider()

    class Handler(BaseHTTPRequestHandler):
        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, extra, sent = provider.reply(Asked(self.command, self.path, headers, body))
            self.send_response(status)
            for name, value in extra.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = handle_any  # noqa: N815 - called so by the library

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as port:
        provider.address = f"http://127.0.0.1:{port}"
        yield provider


@contextmanager
def serving(server: socketserver.TCPServer) -> Iterator[int]:
    """Serve in the background and yield the port."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ── SMTP ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass
class MailServer:
    """What a mail server was given."""

    port: int = 0
    recipients: list[str] = field(default_factory=list)
    mails: list[EmailMessage] = field(default_factory=list)
    credentials: tuple[str, str] | None = None
    signed_in: list[tuple[str, str]] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    refuses_recipient: bool = False


class _Session(socketserver.StreamRequestHandler):
    mail_server: MailServer

    def say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")

    def handle(self) -> None:
        self.encrypted = False
        self.say("220 loopback ESMTP")
        while line := self.rfile.readline(4096):
            verb, _, rest = line.decode().strip().partition(" ")
            if verb.upper() == "QUIT":
                self.say("221 bye")
                return
            getattr(self, f"on_{verb.lower()}", self.unknown)(rest)

    def finish(self) -> None:
        super().finish()
        self.connection.close()  # not what it was accepted as, once it is encrypted

    def unknown(self, rest: str) -> None:
        self.say("502 unknown")

    def on_ehlo(self, rest: str) -> None:
        offers = ["loopback"]
        if self.mail_server.tls and not self.encrypted:
            offers.append("STARTTLS")
        if self.mail_server.credentials:
            offers.append("AUTH PLAIN")
        for offer in offers[:-1]:
            self.say(f"250-{offer}")
        self.say(f"250 {offers[-1]}")

    def on_starttls(self, rest: str) -> None:
        assert self.mail_server.tls
        self.say("220 go ahead")
        self.connection = self.mail_server.tls.wrap_socket(self.connection, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
        self.encrypted = True

    def on_auth(self, rest: str) -> None:
        _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
        self.mail_server.signed_in.append((user, password))
        right = (user, password) == self.mail_server.credentials
        self.say("235 welcome" if right else "535 no: you said the secret was leaked-by-the-server")

    def on_mail(self, rest: str) -> None:
        self.say("250 ok")

    def on_rcpt(self, rest: str) -> None:
        if self.mail_server.refuses_recipient:
            return self.say("550 who?")
        self.mail_server.recipients.append(rest.partition("<")[2].partition(">")[0])
        return self.say("250 ok")

    def on_rset(self, rest: str) -> None:
        self.say("250 ok")

    def on_data(self, rest: str) -> None:
        self.say("354 go ahead")
        lines = []
        while (line := self.rfile.readline()) != b".\r\n":
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        self.mail_server.mails.append(message_from_bytes(b"".join(lines), policy=policy.default))
        self.mail_server.encrypted.append(self.encrypted)
        self.say("250 taken")


@contextmanager
def mail_server(**options: Any) -> Iterator[MailServer]:
    server = MailServer(**options)
    handler = type("Session", (_Session,), {"mail_server": server})
    with serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)) as port:
        server.port = port
        yield server


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """A certificate for localhost: a server's context, and the file that a client has to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    public, private = folder / "certificate.pem", folder / "key.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public
