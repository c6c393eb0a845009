"""Argon2id hashing in separate processes of low priority, which a server uses and commands do not.

A thread of low priority is not enough. It holds the interpreter's lock before and after each hash. If the
kernel suspends the thread then, every other thread of the worker waits for the lock.
"""

import json
import logging
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

from identity.users import argon2_builds, argon2_functions, low_priority

_ATTEMPTS: Final = 2
_IDLE_SECONDS: Final = 3
_RESULT_SECONDS: Final = 20  # many times what a hash takes
_ROOT: Final = Path(__file__).resolve().parents[2]
_INHERITED: Final = {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH"}  # other variables hold secrets
# The C library of GNU then requests huge pages for the build's memory. libsodium maps its memory itself.
_HUGE_PAGES: Final = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}

_enabled: Final = threading.Event()
# Processes that no thread uses. The one that was used last is used next, so the others release memory.
_idle: Final[list[subprocess.Popen[bytes]]] = []
os.register_at_fork(after_in_child=_idle.clear)
_failed_builds: Final[set[str]] = set()
_reporting: Final = threading.Lock()
_logger: Final = logging.getLogger("gatehouse.passwords")


class ProcessFailed(RuntimeError):
    """The process could not be started, ended before it returned a result, or took too long."""


def enable() -> None:
    """Hash in separate processes from now on. A hash that finds no idle process starts one."""
    _enabled.set()


def end_processes() -> None:
    """End all processes that are idle. The next hash starts another."""
    while _idle:
        _end(_idle.pop())


def verify(password: str, encoded: str) -> bool:
    """Return whether a password has this hash, in libsodium's format.

    Raises:
        ProcessFailed: no process returned a result.

    """
    return cast("bool", _run("verify", password, encoded))


def encode(password: str, salt: str, costs: tuple[int, int, int]) -> str:
    """Return the hash of a password with this salt. ``costs`` are time, memory and parallelism.

    Raises:
        ProcessFailed: no process returned a result.

    """
    return cast("str", _run("encode", password, salt, *costs))


def find_engine() -> str:
    """Return the implementation that a new process hashes with, and end the process.

    Raises:
        ProcessFailed: no process returned a result.

    """
    end_processes()
    try:
        return cast("str", _call("engine"))
    finally:
        end_processes()


def _run(name: str, *arguments: Any) -> bool | str:
    """Call a function of ``argon2_functions``, in a separate process if processes are enabled."""
    return _call(name, *arguments) if _enabled.is_set() else argon2_functions.call(name, *arguments)


def _call(*call: object) -> Any:
    # Without ``ensure_ascii`` a lone surrogate raises an error here, and not in the process.
    line = json.dumps(call, ensure_ascii=False).encode() + b"\n"
    for _ in range(_ATTEMPTS):
        try:
            process = _take_process()
        except OSError as failure:
            raise ProcessFailed from failure
        result = b""
        try:
            result = _ask(process, line)
        finally:
            if not result:
                _end(process)
        if result:
            _idle.append(process)
            return json.loads(result)
    raise ProcessFailed


def _ask(process: subprocess.Popen[bytes], line: bytes) -> bytes:
    """Return the line that the process answers, or nothing if the process has ended.

    Raises:
        ProcessFailed: the process took too long.

    """
    assert process.stdin is not None and process.stdout is not None  # noqa: PT018, S101 - both are pipes
    try:
        process.stdin.write(line)
        process.stdin.flush()
    except BrokenPipeError:
        return b""
    waiting = select.poll()  # ``select.select`` fails in a process with many files
    waiting.register(process.stdout, select.POLLIN)
    if not waiting.poll(_RESULT_SECONDS * 1000):
        raise ProcessFailed(f"no result within {_RESULT_SECONDS} s")
    answer = process.stdout.readline()
    return answer if answer.endswith(b"\n") else b""


def _take_process() -> subprocess.Popen[bytes]:
    """Return an idle or a new process. A process ends with the worker, when its standard input closes."""
    with suppress(IndexError):
        while (process := _idle.pop()).poll() is not None:
            _end(process)
        return process
    return _start_with_build() or _start()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()


def _start_with_build() -> subprocess.Popen[bytes] | None:
    """Start a process that hashes with the fastest build that works.

    Return None if there is none for this processor. A build that does not work is not tried again in this
    worker.
    """
    for build in argon2_builds.find_present():
        if build.name not in _failed_builds and (process := _start_with(build)) is not None:
            return process
    return None


def _start_with(build: argon2_builds.Build) -> subprocess.Popen[bytes] | None:
    """Start a process that hashes with a build. If the build does not work, log why and return None."""
    process = _start(build.name, str(build.folder))
    assert process.stdout is not None  # noqa: S101 - a pipe
    answer = process.stdout.readline()
    if answer == b'""\n':
        return process
    process.kill()
    process.communicate()
    with _reporting:
        if build.name not in _failed_builds:
            _failed_builds.add(build.name)
            is_whole = answer.endswith(b"\n")
            reason = json.loads(answer) if is_whole else f"its process ended with {process.returncode}"
            _logger.error("the build of Argon2id in %s cannot be used: %s", build.folder, reason)
    return None


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this module, without a shell
        [sys.executable, "-m", __name__, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=_ROOT,
        env={name: value for name, value in os.environ.items() if name in _INHERITED} | _HUGE_PAGES,
        start_new_session=True,
    )


def main() -> None:
    """Read calls from standard input and write their results to standard output, until the input ends."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # the worker may still finish its requests
    low_priority.lower()
    with suppress(BrokenPipeError):  # the worker has ended
        if arguments := sys.argv[1:]:
            _use_build(*arguments)
        for line in _read_lines():
            name, *arguments = json.loads(line)
            _write(argon2_functions.call(name, *arguments))


def _read_lines() -> Iterator[bytes]:
    """Yield the lines of standard input. The worker sends a line after the response to the previous one.

    After a hash, the C library keeps the 19 MiB for the next hash, which is faster. If no hash follows, the
    memory is returned to the system.
    """
    while True:
        if not select.select([sys.stdin], [], [], _IDLE_SECONDS)[0]:
            _release_memory()
        line = sys.stdin.buffer.readline()
        if not line:
            return
        yield line


def _release_memory() -> None:
    import ctypes  # noqa: PLC0415 - a busy process does not need it

    if hasattr(library := ctypes.CDLL(None), "malloc_trim"):  # that of GNU
        library.malloc_trim(0)


def _use_build(name: str, folder: str) -> None:
    """Hash with a build, and write an empty text. If the build fails, write why and exit."""
    try:
        argon2_builds.load(Path(folder))
    except Exception as failure:  # noqa: BLE001 - a damaged build may raise anything
        _write(f"{type(failure).__name__}: {failure}")
        sys.exit(1)
    argon2_functions.use_build(name)
    _write("")


def _write(result: object) -> None:
    os.write(sys.stdout.fileno(), json.dumps(result).encode() + b"\n")


if __name__ == "__main__":
    main()
