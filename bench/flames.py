"""Where the time of the hot paths goes: flame graphs in docs/images/profiles, and a table by package.

    python bench/flames.py [--only userinfo] [--write]

py-spy looks at the workers of a server two hundred times a second, and counts what runs. There is one
request at a time for each worker: with more, threads that wait for their turn look as if they ran.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import flamegraph
import measure
import sections
import stage
import tables
from flamegraph import Stacks
from measure import ROWS, Times

_PATHS: Final = ("client-credentials", "refresh", "userinfo", "login")
_FOLDER: Final = stage.ROOT / "docs" / "images" / "profiles"
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
# Where threads wait for work. One that was just woken counts as running, but has not begun yet.
_WAITS: Final = ("_worker (concurrent", "Condition.wait (threading", "EpollSelector.select (selectors")
_SECONDS: Final = 60  # that py-spy may take to write what it has


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="See where the time goes.")
    parser.add_argument("--seconds", type=int, default=20, help="a path (default: %(default)s)")
    parser.add_argument("--only", action="append", choices=_PATHS, metavar="PATH", help=", ".join(_PATHS))
    parser.add_argument(
        "--write", action="store_true", help="also write docs/images/profiles and docs/performance.md"
    )
    return parser.parse_args()


class Spies:
    """A py-spy for each worker."""

    def __init__(self, server: stage.Server, place: Path, seconds: int) -> None:
        self.server = server
        self.place = place
        self.seconds = seconds
        self.running: list[tuple[subprocess.Popen[str], Path]] = []

    def start(self) -> None:
        """Begin to look."""
        spy = str(Path(sys.executable).with_name("py-spy"))
        for pid in self.server.workers():
            output = self.place / f"stacks-{pid}"
            command = [spy, "record", "--pid", str(pid), "--format", "raw", "--function", "--rate", "200"]
            command += ["--duration", str(self.seconds), "--output", str(output)]
            options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            process = stage.start(command, stage.inherited(), **options)
            _prefer(process.pid)
            self.running.append((process, output))

    def stacks(self) -> Stacks:
        """Return what they saw, once they have looked long enough.

        Raises:
            Failed: one of them may not look at a worker, or saw nothing.

        """
        found: Stacks = Counter()
        try:
            for process, output in self.running:
                _, complaint = process.communicate(timeout=self.seconds + _SECONDS)
                if process.returncode:
                    raise stage.Failed(f"py-spy: {complaint.strip()[-300:]}")
                found += flamegraph.read(output.read_text())
        finally:
            for process, _ in self.running:
                stage.stop(process)
        working = Counter({stack: n for stack, n in found.items() if not stack[-1].startswith(_WAITS)})
        if not working:
            raise stage.Failed("py-spy saw nothing")
        return working


def _prefer(pid: int) -> None:
    """Let a process run at its moments, if we may: else it runs when a worker rests, and sees only that."""
    if hasattr(os, "sched_setscheduler"):
        with suppress(PermissionError):
            os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(1))


def package_of(stack: tuple[str, ...]) -> str:
    """Name the innermost package on a stack; what the standard library does counts to who called it."""
    for frame in reversed(stack):
        path = frame.partition(" (")[2]
        if path.startswith(_APPS):
            middleware = "middleware" in path
            return "our middleware" if middleware else f"our {path.partition('/')[0]}"
        for start, name in _LIBRARIES.items():
            if path.startswith(start):
                return "Django, middleware" if "middleware" in path else name
    return "Python"


def shares(stacks: Stacks) -> Counter[str]:
    """Return how many per cent of the samples each package has."""
    total = stacks.total()
    found: Counter[str] = Counter()
    for stack, count in stacks.items():
        found[package_of(stack)] += count
    return Counter({name: round(100 * count / total) for name, count in found.items()})


def _table(found: dict[str, Counter[str]], *, links: bool) -> tables.Table:
    every: Counter[str] = Counter()
    for each in found.values():
        every += each
    titles = {row.name: row.title for row in ROWS}
    heads = [f"[{titles[name]}](images/profiles/{name}.svg)" if links else titles[name] for name in found]
    lines = [["per cent of the time", *heads]]
    for package, _ in every.most_common():
        lines.append([package, *(str(each[package]) if each[package] else "-" for each in found.values())])
    return lines


def _seen(server: stage.Server, place: Path, name: str, world: dict[str, Any], seconds: int) -> Stacks:
    """Put one path under load and look at it."""
    row = replace(next(row for row in ROWS if row.name == name), connections=_CONNECTIONS)
    spies = Spies(server, place, seconds)
    times = Times(warm_up=2, seconds=seconds + 2, limit=0)
    result = measure.row(row, server, None, world, times, begun=spies.start)
    if result["errors"]:
        raise stage.Failed(f"{row.title}: {result['said'][0]}")
    return spies.stacks()


def main() -> int:
    """Look at each path in its turn."""
    arguments = _arguments()
    found: dict[str, Counter[str]] = {}
    with ExitStack() as stack:
        place = stack.enter_context(stage.place())
        database = stack.enter_context(stage.database(place, sqlite=False))
        environment = stage.environment(place, database.url)
        world = stage.seed(environment)
        server = stack.enter_context(stage.server(environment))
        for name in arguments.only or _PATHS:
            stacks = _seen(server, place, name, world, arguments.seconds)
            found[name] = shares(stacks)
            print(f"{name}: {stacks.total():,} samples", flush=True)
            if arguments.write:
                _FOLDER.mkdir(parents=True, exist_ok=True)
                (_FOLDER / f"{name}.svg").write_text(flamegraph.svg(stacks, name, package_of))
    print("", tables.aligned(_table(found, links=False)), sep="\n")
    if arguments.write and not arguments.only:
        sections.write(profile=tables.markdown(_table(found, links=True)))
    return 0


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
