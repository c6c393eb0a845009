"""Open-loop load: bench/open_loop.py."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from django.conf import settings

SECONDS = 0.05


class Slow(BaseHTTPRequestHandler):
    """Twenty answers a second, however many are asked for."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        time.sleep(SECONDS)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def slow() -> Iterator[HTTPServer]:
    server = HTTPServer(("127.0.0.1", 0), Slow)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_step_that_starts_late_counts_from_the_time_it_was_due(slow):
    data = {
        "prefix": "",
        "issuer": "",
        "machine": ["", ""],
        "web": ["", ""],
        "redirect_uri": "",
        "usernames": [],
        "password": "",
    }
    stream = {"row": "baseline", "rate": 100, "clients": 1, "data": data}
    job = {"port": slow.server_port, "seconds": 0.5, "windows": 1, "streams": [stream]}

    answer = subprocess.run(
        [sys.executable, "-m", "bench.open_loop"],
        cwd=settings.BASE_DIR,
        input=json.dumps(job),
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )

    result = json.loads(answer.stdout)["baseline"]
    assert result["errors"] == 0
    assert result["p99"] > 4 * 1000 * SECONDS
