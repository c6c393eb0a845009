"""Start and stop the programs of a measurement."""

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
BENCH: Final = ROOT / "bench"
_INHERITED: Final = {"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"}
_STOP_TIMEOUT: Final = 30  # seconds


class Failed(Exception):
    """The measurement cannot be made; the text says why."""


def inherited_environment() -> dict[str, str]:
    """Return the variables of our environment that every program needs."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _INHERITED or name.startswith(("PG", "LC_"))
    }


def module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a Python module."""
    return [sys.executable, "-m", name, *arguments]


def start(command: list[str], environment: dict[str, str], **options: Any) -> subprocess.Popen[str]:
    """Start a program in a session of its own, so that Ctrl-C reaches only us and we stop it in order."""
    return subprocess.Popen(  # noqa: S603 - our own programs, no shell
        command, env=environment, cwd=ROOT, text=True, start_new_session=True, **options
    )


def start_load(name: str, job: dict[str, Any]) -> subprocess.Popen[str]:
    """Start a load generator and send it its job as JSON."""
    process = start(module(name), {}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    with process.stdin:
        json.dump(job, process.stdin)
    process.stdin = None
    return process


def stop(process: subprocess.Popen[str]) -> None:
    """Stop a program and everything it started."""
    try:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_STOP_TIMEOUT)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def output_of(command: list[str], environment: dict[str, str], *, timeout: float) -> str:
    """Run a program to its end and return what it printed.

    Raises:
        Failed: the program failed, or took too long.

    """
    name = " ".join(command[1:3])
    process = start(
        command, environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed(f"{name} took more than {timeout:.0f} s") from None
    finally:
        stop(process)
    if process.returncode:
        raise Failed(f"{name} failed:\n{errors.strip()[-800:]}")
    return output
