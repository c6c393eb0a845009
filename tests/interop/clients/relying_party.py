"""What the relying parties in Python have in common: one person, and addresses that a browser opens."""

import json
import os
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

ISSUER, ORIGIN = os.environ["ISSUER"], os.environ["ORIGIN"]
CLIENT_ID, CLIENT_SECRET = os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"]


def serve(**routes):
    """Each route takes the query; it returns the address to go to next, or what to show."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = urlsplit(self.path)
            try:
                answer = routes[parts.path.strip("/") or "home"](dict(parse_qsl(parts.query)))
            except Exception:  # noqa: BLE001 - whatever it is, the test shows it
                self.answer(500, "text/plain", traceback.format_exc())
            else:
                if isinstance(answer, str):
                    self.answer(302, "text/plain", "", location=answer)
                else:
                    self.answer(200, "application/json", json.dumps(answer, default=str))

        def answer(self, status, kind, body, location=None):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body.encode())

    ThreadingHTTPServer(("127.0.0.1", urlsplit(ORIGIN).port), Handler).serve_forever()
