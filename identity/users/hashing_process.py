"""Argon2id: in a server in processes of its own, which give way to everything else.

A thread could give way just as well, but before and after each hash it holds the interpreter's
lock. The kernel lets it wait then too, and every other thread of the worker with it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

_NICE: Final = 10
_TRIES: Final = 2
_AUTOGROUP: Final = Path("/proc/self/autogroup")
_ROOT: Final = Path(__file__).resolve().parents[2]
_KEPT: Final = {"PATH", "PYTHONPATH", "LD_LIBRARY_PATH"}  # of the environment, which holds secrets

_wanted: Final = threading.Event()
_own: Final = threading.local()


class Gone(RuntimeError):
    """The process could not be started, or ended each time it was asked."""


def use() -> None:
    """Hash in such processes from now on: one for each thread that hashes, from its first hash on."""
    _wanted.set()


def end() -> None:
    """End the process of this thread, which gets another when it hashes again."""
    process = _own.__dict__.pop("process", None)
    if process is not None:
        process.kill()
        with suppress(BrokenPipeError):
            process.communicate()


def verify(password: str, encoded: str) -> bool:
    """Tell whether a hash in libsodium's form is of this password.

    Raises:
        Gone: the process ended.

    """
    return cast("bool", _done("verify", password, encoded))


def encode(password: str, salt: str, costs: tuple[int, int, int]) -> str:
    """Return the hash of a password with this salt; the costs are of time, memory and parallelism.

    Raises:
        Gone: the process ended.

    """
    return cast("str", _done("encode", password, salt, *costs))


def _done(what: str, password: str, *more: Any) -> bool | str:
    """Return what comes of it: done here, unless processes are wanted."""
    return _ask(what, password, *more) if _wanted.is_set() else _DO[what](password, *more)


def _ask(*question: object) -> Any:
    # Whatever is no UTF-8 fails here already, and not over there.
    line = json.dumps(question, ensure_ascii=False).encode() + b"\n"
    for _ in range(_TRIES):
        try:
            process = _process()
        except OSError as failure:
            raise Gone from failure
        assert process.stdin is not None and process.stdout is not None  # noqa: PT018, S101 - both are pipes
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if answer.endswith(b"\n"):
            return json.loads(answer)
        end()
    raise Gone


def _process() -> subprocess.Popen[bytes]:
    """Return the process of this thread. It ends with the worker, whose end of its pipe is closed then."""
    if not hasattr(_own, "process"):
        _own.process = subprocess.Popen(  # noqa: S603 - ourselves, no shell
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
            env={name: value for name, value in os.environ.items() if name in _KEPT},
            start_new_session=True,
        )
    return cast("subprocess.Popen[bytes]", _own.process)


def main() -> None:
    """Answer what is asked on standard input until it ends."""
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)  # the worker may still finish what it is at
    _give_way()
    with suppress(BrokenPipeError):  # nobody waits for the answer any more
        for line in sys.stdin.buffer:
            what, *given = json.loads(line)
            os.write(sys.stdout.fileno(), json.dumps(_DO[what](*given)).encode() + b"\n")


def _give_way() -> None:
    """Let all others go first, from now on or a little later: no password waits for it."""
    os.nice(_NICE)
    threading.Thread(target=_give_way_as_a_session, daemon=True).start()


def _give_way_as_a_session() -> None:
    """Let all other sessions go first.

    Linux may share out the processors between sessions before it asks for the niceness of processes in them
    (sched(7), autogroup). This process is a session of its own, which gives way too: to the worker, and to
    the database for which the worker waits.
    """
    while True:
        try:
            _AUTOGROUP.write_text(str(_NICE))
        except BlockingIOError:  # on the whole machine one may every 0.1 seconds, unless it is root
            time.sleep(0.1)
        except OSError:  # sessions are not told apart here
            return
        else:
            return


def _verified(password: str, encoded: str) -> bool:
    """Libsodium needs less time for it than argon2-cffi."""
    from nacl import exceptions, pwhash  # noqa: PLC0415 - a megabyte of every worker, which has others hash

    try:
        return bool(pwhash.verify(encoded.encode(), password.encode()))
    except exceptions.InvalidkeyError:
        return False


def _encoded(password: str, salt: str, passes: int, memory: int, parallelism: int) -> str:
    from argon2 import Type, low_level  # noqa: PLC0415 - most of these processes only verify

    return low_level.hash_secret(
        password.encode(),
        salt.encode(),
        time_cost=passes,
        memory_cost=memory,
        parallelism=parallelism,
        hash_len=32,
        type=Type.ID,
    ).decode()


_DO: Final[dict[str, Callable[..., bool | str]]] = {"verify": _verified, "encode": _encoded}

if __name__ == "__main__":
    main()
