"""The priority of a process that gives way to all others."""

import os
import threading
import time
from pathlib import Path
from typing import Final

_NICENESS: Final = 10
_AUTOGROUP: Final = Path("/proc/self/autogroup")


def lower() -> None:
    """Lower the priority of the process, and in a thread that of its session, which may take longer."""
    os.nice(_NICENESS)
    threading.Thread(target=_lower_session_priority, daemon=True).start()


def _lower_session_priority() -> None:
    """Lower the priority of the process's session.

    Linux may divide the processors between sessions before it applies the niceness of the processes in them
    (sched(7), autogroup). This process has a session of its own. With a lower priority it yields to the
    worker, and to the database that the worker waits for.
    """
    while True:
        try:
            _AUTOGROUP.write_text(str(_NICENESS))
        except BlockingIOError:  # Linux allows one change every 0.1 seconds, except for root
            time.sleep(0.1)
        except OSError:  # the kernel has no autogroups
            return
        else:
            return
