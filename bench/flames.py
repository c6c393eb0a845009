"""Where the time of the hot paths goes: flame graphs in docs/images/profiles, and a table by package.

    python bench/flames.py [--only userinfo] [--write]

py-spy looks at the workers of a server under load, a hundred times a second, and counts who holds the
interpreter; hashing lets go of it, and is counted by a second look. What the kernel does is not seen.
"""

import argparse
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
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
_APPS: Final = ("audit", "config", "identity", "interaction", "management", "oidc")
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
_HASHING: Final = "(argon2/"
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
    """Two of py-spy for each worker: who holds the interpreter, and who hashes."""

    def __init__(self, server: stage.Server, place: Path, seconds: int) -> None:
        self.server = server
        self.place = place
        self.seconds = seconds
        self.running: list[tuple[subprocess.Popen[str], Path, bool]] = []

    def start(self) -> None:
        """Begin to look."""
        for pid in self.server.workers():
            self._start(pid, "--gil")
            self._start(pid, "--nonblocking")  # only one may stop the worker while it looks

    def _start(self, pid: int, how: str) -> None:
        output = self.place / f"stacks-{len(self.running)}"
        spy = str(Path(sys.executable).with_name("py-spy"))
        command = [spy, "record", "--pid", str(pid), "--format", "raw", "--function", "--rate", "100", how]
        command += ["--duration", str(self.seconds), "--output", str(output)]
        options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        process = stage.start(command, stage.inherited(), **options)
        self.running.append((process, output, how == "--gil"))

    def stacks(self) -> Stacks:
        """Return what they saw, once they have looked long enough.

        Raises:
            Failed: one of them may not look at a worker, or saw nothing.

        """
        found: Stacks = Counter()
        try:
            for process, output, every in self.running:
                _, complaint = process.communicate(timeout=self.seconds + _SECONDS)
                if process.returncode:
                    raise stage.Failed(f"py-spy: {complaint.strip()[-300:]}")
                seen = flamegraph.read(output.read_text())
                found += Counter({stack: n for stack, n in seen.items() if every or _HASHING in stack[-1]})
        finally:
            for process, *_ in self.running:
                stage.stop(process)
        if not found:
            raise stage.Failed("py-spy saw nothing")
        return found


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
    row = next(row for row in ROWS if row.name == name)
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
