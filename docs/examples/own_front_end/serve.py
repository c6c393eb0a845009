"""Serves this front end at the origin of a Gatehouse that runs on this computer. Only for development.

It answers the paths that the front end replaces, and passes everything else on, as your proxy will do.
"""

import http.client
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GATEHOUSE = os.environ.get("GATEHOUSE", "127.0.0.1:8000")  # where it listens
PORT = int(os.environ.get("FRONT_END_PORT", "8002"))  # the port of BASE_URL

FOLDER = Path(__file__).parent
PAGE = re.compile(r"(/t/[^/?]+)?/(sign-in|account)(\?.*)?")
SCRIPT = re.compile(r"(/t/[^/?]+)?/own/app\.js")
# Of one connection, or written by the server itself.
NOT_PASSED_ON = {"connection", "keep-alive", "transfer-encoding", "date", "server"}


class Handler(BaseHTTPRequestHandler):
    """Answers with the files of the front end, or with what Gatehouse answers."""

    def _serve(self) -> None:
        if self.command == "GET" and PAGE.fullmatch(self.path):
            self._answer(200, [("Content-Type", "text/html")], (FOLDER / "index.html").read_bytes())
        elif self.command == "GET" and SCRIPT.fullmatch(self.path):
            self._answer(200, [("Content-Type", "text/javascript")], (FOLDER / "app.js").read_bytes())
        else:
            self._pass_on()

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        connection = http.client.HTTPConnection(GATEHOUSE, timeout=60)
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            self._answer(answer.status, answer.getheaders(), answer.read())
        except OSError as error:
            text = f"Gatehouse does not answer at {GATEHOUSE}: {error}\n"
            self._answer(502, [("Content-Type", "text/plain")], text.encode())
        finally:
            connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in NOT_PASSED_ON | {"content-length"}:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_OPTIONS = _serve  # noqa: N815 - names of the library


if __name__ == "__main__":
    print(f"Open http://localhost:{PORT}/sign-in. Ctrl-C stops it.", flush=True)  # noqa: T201 - a command
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
