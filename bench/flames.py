"""Sample where the time of the hot paths goes, as flame graphs and as a table by package.

py-spy samples the workers of a server 200 times a second. Each worker serves one request at a
time: with more, threads that wait for the interpreter would count as running.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench import flamegraph, processes, sections, servers, tables
from bench.flamegraph import Stacks
from bench.measure import ROWS, Row, Times, require_row
from bench.servers import Server, Target

_ROWS: Final = {row.name: row for row in ROWS}
_PATHS: Final = ("client-credentials", "refresh", "userinfo", "login")
_FOLDER: Final = processes.ROOT / "docs" / "images" / "profiles"
_APPS: Final = ("audit", "config", "database", "identity", "interaction", "management", "oidc")
_LIBRARIES: Final = {
    "django/db/": "Django, database",
    "django/": "Django, requests",
    "rest_framework/": "REST framework",
    "oauthlib/": "oauthlib and toolkit",
    "oauth2_provider/": "oauthlib and toolkit",
    "psycopg": "psycopg",
    "gunicorn/": "gunicorn",
    "argon2/": "argon2",
    "cryptography/": "cryptography",
    "jwcrypto/": "cryptography",
}
_CONNECTIONS: Final = 2
# Where threads wait for work. py-spy counts a thread as running as soon as it is woken there.
_WAITS: Final = ("_worker (concurrent", "Condition.wait (threading", "EpollSelector.select (selectors")
_WRITE_TIMEOUT: Final = 60  # seconds for py-spy to write its samples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=20, help="of a path (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=_PATHS, metavar="PATH", help=", ".join(_PATHS))
    parser.add_argument(
        "--write", action="store_true", help="also update docs/images/profiles and docs/performance.md"
    )


class Samplers:
    """A py-spy for each worker."""

    def __init__(self, server: Server, folder: Path, seconds: int) -> None:
        self.server = server
        self.folder = folder
        self.seconds = seconds
        self.running: list[tuple[subprocess.Popen[str], Path]] = []

    def start(self) -> None:
        py_spy = str(Path(sys.executable).with_name("py-spy"))
        for pid in self.server.workers():
            output = self.folder / f"stacks-{pid}"
            command = [py_spy, "record", "--pid", str(pid), "--format", "raw", "--function", "--rate", "200"]
            command += ["--duration", str(self.seconds), "--output", str(output)]
            process = processes.start(
                command, processes.inherited_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            _set_realtime(process.pid)
            self.running.append((process, output))

    def stacks(self) -> Stacks:
        """Wait for the samples and return them, without those of waiting threads.

        Raises:
            Failed: a py-spy may not read a worker, or there are no samples.

        """
        samples: Stacks = Counter()
        try:
            for process, output in self.running:
                _, errors = process.communicate(timeout=self.seconds + _WRITE_TIMEOUT)
                if process.returncode:
                    raise processes.Failed(f"py-spy: {errors.strip()[-300:]}")
                samples += flamegraph.read(output.read_text())
        finally:
            for process, _ in self.running:
                processes.stop(process)
        working = Counter({stack: n for stack, n in samples.items() if not stack[-1].startswith(_WAITS)})
        if not working:
            raise processes.Failed("py-spy has no samples")
        return working


def _set_realtime(pid: int) -> None:
    """Give py-spy real-time priority if that is allowed: without it, py-spy samples only idle workers."""
    if hasattr(os, "sched_setscheduler"):
        with suppress(PermissionError):
            os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))


def package_of(stack: tuple[str, ...]) -> str:
    """Return the innermost package of a stack; the standard library counts as its caller."""
    for frame in reversed(stack):
        path = frame.partition(" (")[2]
        if path.startswith(_APPS):
            return "our middleware" if "middleware" in path else f"our {path.partition('/')[0]}"
        for prefix, name in _LIBRARIES.items():
            if path.startswith(prefix):
                return "Django, middleware" if "middleware" in path else name
    return "Python"


def shares(stacks: Stacks) -> Counter[str]:
    """Return the percentage of the samples in each package."""
    counts: Counter[str] = Counter()
    for stack, count in stacks.items():
        counts[package_of(stack)] += count
    return Counter({name: round(100 * count / stacks.total()) for name, count in counts.items()})


def _table(paths: dict[str, Counter[str]], *, links: bool) -> tables.Table:
    totals: Counter[str] = Counter()
    for path in paths.values():
        totals += path
    titles = {name: _ROWS[name].title for name in paths}
    headings = [
        f"[{titles[name]}](../../docs/images/profiles/{name}.svg)" if links else titles[name]
        for name in paths
    ]
    table = [["per cent of the time", *headings]]
    for package, _ in totals.most_common():
        table.append([package, *(str(path[package]) if path[package] else "-" for path in paths.values())])
    return table


def _largest(path: Counter[str]) -> str:
    return ", ".join(f"{package} {share} %" for package, share in path.most_common(3))


def _sample(target: Target, folder: Path, row: Row, seconds: int) -> Stacks:
    """Put a path under load and sample it."""
    samplers = Samplers(target.server, folder, seconds)
    times = Times(warm_up=2, seconds=seconds + 2)
    require_row(replace(row, connections=_CONNECTIONS), target, times, samplers.start)
    return samplers.stacks()


def main(arguments: argparse.Namespace) -> int:
    """Sample each path in turn."""
    paths: dict[str, Counter[str]] = {}
    with servers.new_target() as (target, installation):
        for name in arguments.only or _PATHS:
            stacks = _sample(target, installation.folder, _ROWS[name], arguments.seconds)
            paths[name] = shares(stacks)
            print(f"{name}: {stacks.total():,} samples", flush=True)
            if arguments.write:
                _FOLDER.mkdir(parents=True, exist_ok=True)
                (_FOLDER / f"{name}.svg").write_text(flamegraph.svg(stacks, name, package_of))
    print("", tables.aligned(_table(paths, links=False)), sep="\n")
    if arguments.write and not arguments.only:
        text = tables.markdown(_table(paths, links=True))
        link = sections.write_result("flames", "Where the time goes", text)
        summary = "; ".join(f"{_ROWS[name].title}: {_largest(path)}" for name, path in paths.items())
        sections.update_page(profile=f"Largest shares: {summary}. [All packages, with flame graphs]({link}).")
    return 0
