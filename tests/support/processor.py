"""How much processor time the workers of a server take, as Linux counts it."""

import os
from pathlib import Path
from typing import Final

_TICKS: Final = os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM = 11, 12  # places after the command's name: proc_pid_stat(5)


def seconds_of_workers(server: int) -> float:
    """The time that the workers of a gunicorn took so far. Passwords are hashed in processes of their own."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    return sum(_seconds_of(int(pid)) for pid in children)


def _seconds_of(pid: int) -> float:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[_USER]) + int(after_name[_SYSTEM])) / _TICKS
