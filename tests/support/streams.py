"""An application whose responses have no end, break off or take a while, or say how a body arrived."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

from config.server import wsgi_responses

django.setup(set_prefix=False)  # gunicorn's hooks expect the apps

SEEN = "TEST_STREAM_FILE"  # the variable with the path of a file that says what was sent
SECONDS = "TEST_STREAM_SECONDS"  # the variable with the time that a client has for a response
if SECONDS in os.environ:
    wsgi_responses.STREAM_SECONDS = float(os.environ[SECONDS])


class Stream:
    """A response of parts of 64 KiB."""

    streaming = True

    def __init__(self, *, breaks_off: bool) -> None:
        self._breaks_off = breaks_off
        self._file = Path(os.environ[SEEN])

    def __iter__(self) -> Iterator[bytes]:
        while True:
            with self._file.open("a") as file:
                file.write(".")
            yield b"x" * 65_536
            if self._breaks_off:
                raise ValueError("broken off")

    def close(self) -> None:
        with self._file.open("a") as file:
            file.write("closed")


def _wait() -> str:
    with Path(os.environ[SEEN]).open("a") as file:
        file.write("w")
    time.sleep(1.5)
    return "waited"


def _count(body: Any) -> str:
    """Return the number of parts in which the rest of a body arrives, and its size."""
    sizes = [len(part) for part in iter(lambda: body.read1(65_536), b"")]
    return f"{len(sizes)} {sum(sizes)}"


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
    """Serve streams at two paths, and texts at two others."""
    path = environ["PATH_INFO"]
    if path in {"/wait", "/parts"}:
        text = _wait() if path == "/wait" else _count(environ["wsgi.input"])
        start_response("200 OK", [("Content-Length", str(len(text)))])
        return (text.encode(),)
    if path not in {"/endless", "/broken"}:
        start_response("404 Not Found", [("Content-Length", "0")])
        return ()
    start_response("200 OK", [("Content-Type", "text/plain")])
    return Stream(breaks_off=path == "/broken")
