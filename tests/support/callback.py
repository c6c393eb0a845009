"""The site of an application, on loopback. It gets the authorization response and redirects the browser."""

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import NamedTuple, Self
from urllib.parse import parse_qsl


class Posted(NamedTuple):
    """A form that a browser sent."""

    path: str
    fields: dict[str, str]
    origin: str


class _Quiet(BaseHTTPRequestHandler):
    server: "_Server"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        sent = dict(parse_qsl(body, keep_blank_values=True, strict_parsing=True))
        self.server.site.posted.append(Posted(self.path, sent, self.headers.get("Origin", "")))
        self._respond()

    def do_GET(self) -> None:
        self.server.site.asked.append(self.path)
        self._respond()

    def _respond(self) -> None:
        onward = self.server.site.onward if self.path.startswith("/callback") else ""
        body = self.server.site.pages.get(self.path.partition("?")[0], "<h1>You are back</h1>").encode()
        self.send_response(303 if onward else 200)
        if onward:
            self.send_header("Location", onward)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, site: "Site", address: str) -> None:
        self.site = site
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, 0), _Quiet)


class Site:
    """Listens on loopback. ``asked`` is what browsers asked for, ``posted`` what they sent as a form.

    ``pages`` is what it shows by path.

    ``onward`` is where its callback sends the browser, with what came in the query thrown away.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._server = _Server(self, address)
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        host = f"[{address}]" if ":" in address else address
        self.origin = f"http://{host}:{self._server.server_port}"
        self.asked: list[str] = []
        self.posted: list[Posted] = []
        self.pages: dict[str, str] = {"/favicon.ico": ""}
        self.onward = ""

    @property
    def callback(self) -> str:
        return f"{self.origin}/callback"

    def answer(self) -> str:
        """Return the request that brought the answer."""
        return next(path for path in reversed(self.asked) if path.startswith("/callback"))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
