"""The pytest plugin of mutation tests. pytest collects once, and then forks a process for each mutant.

In the forked process the functions of the product get the code of the mutant, and the tests that reach it run
until one fails. A thread of the same process serves the product.
"""

import base64
import gc
import hashlib
import os
import resource
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import accumulate
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
from tests.mutation.groups import GROUPS
from tests.mutation.mutants import ROOT, Mutant
from tests.mutation.reached import Reached, Recorder

# When the tests of a mutant are stopped, as of one that never ends. CPU time is the same on a busy machine.
_CPU_SECONDS: Final = 120
_SECONDS: Final = 900
_SLOW: Final = 8.0  # CPU seconds of a test that is left out
_RESULTS: Final = {0: "survived", 3: "invalid"}
_FAKE: Final = "$argon2id$v=19$m=19456,t=2,p=1$"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--group", action="append")
    parser.addoption("--results", type=Path, help="the file to which results are added")
    parser.addoption("--reached", type=Path, help="the file with the lines that each test reaches")
    parser.addoption("--seed", type=int)
    parser.addoption("--seconds", type=int, help="when to stop a group")
    parser.addoption("--limit", type=float, help="CPU seconds of tests for one mutant")
    parser.addoption("--parameters", type=int, help="tests of each test function")
    parser.addoption("--weakening", action="store_true", help="only changes that weaken a check")


class _Handler(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _serving(code: Path = ROOT, /, **environment: str) -> Iterator[None]:
    """Serve in a thread of this process, and send messages in another."""
    from interaction.verification import outgoing  # noqa: PLC0415 - pytest-django has read the settings now
    from tests.support.comparison import FILE  # noqa: PLC0415

    if code != ROOT or set(environment) - {FILE}:
        pytest.skip("starts a server of its own")
    with ThreadedWSGIServer((settings.HOST, settings.PORT), _Handler) as http:
        http.daemon_threads = True
        http.set_app(import_module("config.wsgi").application)
        threading.Thread(target=http.serve_forever, daemon=True).start()
        outgoing.start()
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Run the tests against each mutant, instead of once."""
    option = session.config.option
    gc.unfreeze()  # functions and statements are found among the objects that are not frozen
    files = tuple(dict.fromkeys(path for paths, _ in GROUPS.values() for path in paths))
    session.items = list(_leave_out_parameters(session.items, option.parameters))
    _prepare(session)
    if not option.reached.exists():
        _record(session, files, option.reached)
    reached = Reached.read(option.reached)
    tried = {tuple(line.split("\t")[:2]) for line in option.results.read_text().splitlines()}
    functions = _Functions(files)
    items = {item.nodeid: item for item in session.items if reached.seconds.get(item.nodeid, _SLOW) < _SLOW}
    gc.freeze()
    for group in option.group:
        paths, first = GROUPS[group]
        deadline = time.monotonic() + option.seconds
        noticed: dict[str, str] = {}  # by function, the test that noticed a change last
        for mutant in mutants.sample([m for path in paths for m in mutants.find(path)], option.seed):
            if time.monotonic() > deadline:
                break
            if (group, mutant.key) in tried or (option.weakening and not mutant.weakens):
                continue
            tests = [test for test in reached.get_tests(mutant) if test in items]
            tests.sort(key=lambda test: not test.startswith(first))
            tests.sort(key=noticed.get(mutant.function, "").__ne__)
            session.items = [items[test] for test in _choose(tests, reached, option.limit)]
            result, test = _try(session, functions, mutant) if session.items else ("unreached", "")
            noticed[mutant.function] = test or noticed.get(mutant.function, "")
            with option.results.open("a") as file:
                row = (group, mutant.key, mutant.function, mutant.text, result, test)
                file.write("\t".join(row) + "\n")
    return True


def _leave_out_parameters(items: list[pytest.Item], kept: int) -> Iterator[pytest.Item]:
    """Yield a few tests of each test function, from its first parameters to its last."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for tests in functions.values():
        yield from tests[:: -(-len(tests) // kept)]


def _prepare(session: pytest.Session) -> None:
    """Create the database, and import what serves requests."""
    from tests.support import server  # noqa: PLC0415 - pytest-django has read the settings now

    _hash_cheaply()
    with session.config.stash[blocking_manager_key].unblock():
        server.create_database()
        server.prepare()
        connections.close_all()
    shutil.copy(_database(), _database().with_suffix(".prepared"))
    server.process = _serving  # type: ignore[assignment]  # no process
    server.create_database = server.prepare = server.drop_database = lambda: None
    import_module("config.wsgi")
    import_module(settings.ROOT_URLCONF)


def _hash_cheaply() -> None:
    """Replace Argon2id. A test of a real hash fails without a mutant, and is left out."""
    from identity.users import hashing_process  # noqa: PLC0415 - it needs the settings

    def encode(password: str, salt: str, *_: object) -> str:
        digest = base64.b64encode(hashlib.sha256(f"{salt}{password}".encode()).digest()).decode().rstrip("=")
        return f"{_FAKE}{base64.b64encode(salt.encode()).decode().rstrip('=')}${digest}"

    def verify(password: str, encoded: str) -> bool:
        salt = base64.b64decode(encoded.split("$")[-2] + "==").decode(errors="replace")
        return encode(password, salt) == encoded

    functions: dict[str, Callable[..., bool | str]] = {"encode": encode, "verify": verify}
    hashing_process._run = lambda name, *arguments: functions[name](*arguments)


def _database() -> Path:
    return Path(str(settings.DATABASES["default"]["NAME"]))


def _restore_database() -> None:
    """Give the process the database as it was prepared."""
    for suffix in ("-wal", "-shm", "-journal"):
        Path(f"{_database()}{suffix}").unlink(missing_ok=True)
    shutil.copy(_database().with_suffix(".prepared"), _database())


def _record(session: pytest.Session, files: tuple[str, ...], path: Path) -> None:
    child = os.fork()
    if child == 0:
        recorder = Recorder(files)
        session.config.pluginmanager.register(recorder)
        _restart_hashing()
        with suppress(Exception):
            recorder.record(lambda: run_tests(session)).write(path)
        os._exit(0)
    os.waitpid(child, 0)


def _choose(tests: list[str], reached: Reached, limit: float) -> list[str]:
    """Return the first tests, as many as take the limit without a mutant. One always runs."""
    ends = accumulate(reached.seconds[test] for test in tests)
    return [
        test for number, (test, end) in enumerate(zip(tests, ends, strict=True)) if end <= limit or not number
    ]


def _try(session: pytest.Session, functions: "_Functions", mutant: Mutant) -> tuple[str, str]:
    """Return what the tests made of a mutant, and the test that noticed it."""
    noticed = Path(settings.VAR) / "noticed"
    noticed.write_text("")
    child = os.fork()
    if child == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        _run_and_exit(session, functions, mutant, noticed)
    deadline = time.monotonic() + _SECONDS
    result = "timeout"
    while result == "timeout" and time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            result = _RESULTS.get(os.waitstatus_to_exitcode(status), "killed")
        else:
            time.sleep(0.01)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # with the programs that its tests started
    if result == "timeout":
        os.waitpid(child, 0)
    return result, noticed.read_text()


class _UntilFailure:
    """A plugin that ends the process at the first failure, and writes which test it is."""

    def __init__(self, noticed: Path) -> None:
        self.noticed = noticed

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.when != "teardown":
            self.noticed.write_text(report.nodeid)
            os._exit(1)


def _run_and_exit(
    session: pytest.Session, functions: "_Functions", mutant: Mutant, noticed: Path
) -> NoReturn:
    status = 3
    try:
        if functions.replace(mutant):
            _restore_database()
            _restart_hashing()
            session.config.pluginmanager.register(_UntilFailure(noticed))
            status = 1
            run_tests(session)
            status = int(session.testsfailed > 0)
    finally:  # also after an exception, which must not reach the loop of the parent
        os._exit(status)


def _restart_hashing() -> None:
    """Replace the threads of the parent, which a forked process does not have."""
    from identity.users import passwords  # noqa: PLC0415 - it needs the settings

    passwords._queue = passwords.HashingQueue(running=2, waiting=settings.HASHING_QUEUE)


class _Functions:
    """The functions of files of the product."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        files = {str(ROOT / path) for path in paths}
        self._functions = [
            function
            for function in gc.get_objects()
            if isinstance(function, FunctionType) and function.__code__.co_filename in files
        ]

    def replace(self, mutant: Mutant) -> bool:
        """Give the functions of a module the code of the mutant. Return false if that changes nothing."""
        path = str(ROOT / mutant.path)
        original = compile((ROOT / mutant.path).read_text(), path, "exec")
        codes = {_place(code): code for code in _codes(mutant.compile())}
        places = {_place(old) for old in _codes(original) if codes.get(_place(old), old) != old}
        replaced = [
            function
            for function in self._functions
            if function.__code__.co_filename == path and _place(function.__code__) in places
        ]
        for function in replaced:
            function.__code__ = codes[_place(function.__code__)]
        return bool(replaced)


def _place(code: CodeType) -> tuple[str, int, tuple[str, ...]]:
    return code.co_qualname, code.co_firstlineno, code.co_freevars


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)
