"""The pytest plugin of mutation tests. pytest collects once, and then forks a process for each mutant.

In the forked process the functions of the product get the code of the mutant, and the tests run until one
fails. A thread of the same process serves the product.
"""

import gc
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final, NoReturn

import pytest
from _pytest.main import pytest_runtestloop as run_tests
from django.conf import settings
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.db import connections
from pytest_django.plugin import blocking_manager_key

from tests.mutation import mutants
from tests.mutation.mutants import ROOT, Mutant

_SECONDS: Final = 120  # until the tests of a mutant are stopped, as of one that never ends
_RESULTS: Final = {0: "survived", 3: "invalid"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mutants-of", action="append", default=[], help="a file of the product")
    parser.addoption("--results", help="the file to which results are added")
    parser.addoption("--seed", type=int)
    parser.addoption("--seconds", type=int, help="when to stop")


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _serving(code: Path = ROOT, /, **environment: str) -> Iterator[None]:
    """Serve in a thread of this process."""
    if code != ROOT or environment:
        pytest.skip("starts a server of its own")
    with ThreadedWSGIServer((settings.HOST, settings.PORT), _Handler) as http:
        http.daemon_threads = True
        http.set_app(import_module("config.wsgi").application)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests against each mutant, instead of once."""
    from tests.support import server  # noqa: PLC0415 - pytest-django has read the settings now

    option = session.config.option
    with session.config.stash[blocking_manager_key].unblock():
        server.create_database()
        server.prepare()
        connections.close_all()
    server.process = _serving  # type: ignore[assignment]  # no process
    server.create_database = server.prepare = server.drop_database = lambda: None
    _leave_out_failing(session)
    deadline = time.monotonic() + option.seconds
    for mutant in mutants.sample([m for path in option.mutants_of for m in mutants.find(path)], option.seed):
        if time.monotonic() > deadline:
            break
        result = _try(session, mutant)
        with Path(option.results).open("a") as file:
            file.write(f"{result}\t{mutant.key}\t{mutant.function}\t{mutant.text}\n")
    return True


def _leave_out_failing(session: pytest.Session) -> None:
    """Keep the tests that pass without a mutant, the fastest first."""
    passing = Path(settings.VAR) / "passing.json"
    child = os.fork()
    if child == 0:
        recorder = _Recorder()
        session.config.pluginmanager.register(recorder)
        _restart_hashing()
        with suppress(BaseException):
            run_tests(session)
        passing.write_text(json.dumps(recorder.seconds))
        os._exit(0)
    os.waitpid(child, 0)
    seconds = json.loads(passing.read_text())
    kept = [item for item in session.items if item.nodeid in seconds]
    session.items = sorted(kept, key=lambda item: float(seconds[item.nodeid]))


class _Recorder:
    """The seconds of each test that passed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = report.duration


def _try(session: pytest.Session, mutant: Mutant) -> str:
    """Return what the tests made of a mutant."""
    child = os.fork()
    if child == 0:
        _run_and_exit(session, mutant)
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return _RESULTS.get(os.waitstatus_to_exitcode(status), "killed")
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "timeout"


def _run_and_exit(session: pytest.Session, mutant: Mutant) -> NoReturn:
    if not _replace(mutant):
        os._exit(3)
    _restart_hashing()
    session.config.option.maxfail = 1
    try:
        run_tests(session)
    except BaseException:  # noqa: BLE001 - pytest raises Failed at the first failure
        os._exit(1)
    os._exit(1 if session.testsfailed else 0)


def _restart_hashing() -> None:
    """Replace the threads of the parent, which a forked process does not have."""
    from identity.users import passwords  # noqa: PLC0415 - it needs the settings

    passwords._queue = passwords.HashingQueue(running=2, waiting=settings.HASHING_QUEUE)


def _replace(mutant: Mutant) -> bool:
    """Give the functions of a module the code of the mutant. Return false if that changes nothing."""
    path = str(ROOT / mutant.path)
    original = compile((ROOT / mutant.path).read_text(), path, "exec")
    pairs = zip(_codes(original), _codes(mutant.compile()), strict=True)
    changed = {_place(old): new for old, new in pairs if old != new}
    functions = [
        function
        for function in gc.get_objects()
        if isinstance(function, FunctionType)
        and function.__code__.co_filename == path
        and _place(function.__code__) in changed
    ]
    for function in functions:
        function.__code__ = changed[_place(function.__code__)]
    return bool(functions)


def _place(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_qualname, code.co_firstlineno, code.co_freevars


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)
