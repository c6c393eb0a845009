"""Change the decisions about tokens, grants and permissions one at a time, and list the changes that no test
notices. Results are added to var/mutation.tsv. docs/security/mutation.md explains the method.
"""

import argparse
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.mutation.groups import GROUPS, TESTS
from tests.mutation.mutants import ROOT

_RESULTS = ROOT / "var/mutation.tsv"
_REACHED = ROOT / "var/mutation_reached.json"
_LOG = ROOT / "var/mutation.log"
_KILLED = {"killed", "timeout", "invalid"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"by default all: {', '.join(GROUPS)}")
    parser.add_argument("--seconds", type=int, default=300, help="for each group (default: 300)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument(
        "--limit", type=float, default=20, help="CPU seconds of tests for one change (default: 20)"
    )
    parser.add_argument(
        "--parameters", type=int, default=100, help="tests of each test function (default: 100)"
    )
    parser.add_argument("--weakening", action="store_true", help="only changes that weaken a check")
    parser.add_argument(
        "--resume", action="store_true", help="keep the results of the last run, and which test reaches what"
    )
    parser.add_argument(
        "--survivors",
        action="store_true",
        help="keep the results of the last run, and try its survivors again",
    )
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="instead of the tests of the groups")
    options = parser.parse_args()
    if unknown := set(options.groups) - set(GROUPS):
        parser.error(f"unknown group: {', '.join(sorted(unknown))}")

    _RESULTS.parent.mkdir(exist_ok=True)
    if not options.resume:
        _REACHED.unlink(missing_ok=True)
        kept = [row for row in _read(_RESULTS) if options.survivors and row[4] in _KILLED]
        _RESULTS.write_text("".join("\t".join(row) + "\n" for row in kept))
    _RESULTS.touch()
    return max(_run(options), _report(_RESULTS))


def _run(options: argparse.Namespace) -> int:
    arguments = [f"--seed={options.seed}", f"--seconds={options.seconds}", f"--limit={options.limit}"]
    arguments += [f"--parameters={options.parameters}", f"--results={_RESULTS}", f"--reached={_REACHED}"]
    arguments += [f"--group={name}" for name in options.groups or GROUPS]
    arguments += ["--weakening"] * options.weakening
    plugin = ("-p", "tests.mutation.plugin", "-p", "no:cacheprovider", "-q", "--tb=no")
    tests = options.tests or _choose_tests(options.groups)
    command = [sys.executable, "-m", "pytest", *plugin, *arguments, *tests]
    with _LOG.open("w") as log:
        return subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode


def _choose_tests(groups: list[str]) -> list[str]:
    """Return all tests or, of a run of some groups, those that run first for them."""
    chosen = [test for name in groups for test in GROUPS[name][1]]
    return list(dict.fromkeys(chosen)) or [f"tests/{name}" for name in TESTS]


def _report(results: Path) -> int:
    """Print the changes that no test noticed, and the counts of each group. Return 1 if there are any."""
    rows = _read(results)
    for _, key, function, text, result, _ in rows:
        if result not in _KILLED:
            print(f"{result}: {key} in {function}: {text}")
    for group in dict.fromkeys(row[0] for row in rows):
        counts = Counter(row[4] for row in rows if row[0] == group)
        print(f"{group}: {', '.join(f'{number} {result}' for result, number in sorted(counts.items()))}")
    return int(any(row[4] not in _KILLED for row in rows))


def _read(results: Path) -> list[list[str]]:
    lines = results.read_text().splitlines() if results.exists() else []
    return [line.split("\t") for line in lines]


if __name__ == "__main__":
    sys.exit(main())
