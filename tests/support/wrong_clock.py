"""The application, in workers whose clocks are wrong by as many seconds as the file TEST_CLOCK says.

Not by libfaketime: under its Debian 12 version Python's ``time.sleep`` fails, and gunicorn does not start.
"""

import os
import time
from pathlib import Path
from threading import Thread

import time_machine

from config.wsgi import application

__all__ = ["application"]

_FILE = Path(os.environ["TEST_CLOCK"])
_SECONDS_BETWEEN_LOOKS = 0.05


def _follow() -> None:
    """Set the clock of this process as the file says, again and again."""
    travel, wrong = None, 0.0
    while True:
        seconds = float(_FILE.read_text())
        if seconds != wrong:
            if travel is not None:
                travel.stop()
            travel, wrong = time_machine.travel(time.time() + seconds, tick=True), seconds
            travel.start()
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _start_following() -> None:
    Thread(target=_follow, daemon=True).start()


# In each worker. A worker serves many requests without the application: see ``config.server.surfaces``.
os.register_at_fork(after_in_child=_start_following)
