"""The application, in a worker whose clock is wrong by as many seconds as the file TEST_CLOCK says.

Not by libfaketime: under its Debian 12 version Python's ``time.sleep`` fails, and gunicorn does not start.
"""

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any

import time_machine

from config.wsgi import application as right

_FILE = Path(os.environ["TEST_CLOCK"])
_lock = Lock()
_wrong: list[tuple[float, time_machine.travel]] = []


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Set the clock as the file says, then serve."""
    _set(float(_FILE.read_text()))
    return right(environ, start_response)


def _set(seconds: float) -> None:
    with _lock:
        if _wrong and _wrong[-1][0] == seconds:
            return
        if _wrong:
            _wrong.pop()[1].stop()
        travel = time_machine.travel(time.time() + seconds, tick=True)
        travel.start()
        _wrong.append((seconds, travel))
