"""Asks whether a dependency of production has a known weakness: ``make audit``.

It fails when one has. Where the data cannot be reached it says so, and fails only with
GATEHOUSE_REQUIRE_AUDIT=1, as a release should be made.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "requirements-production.lock"
_SECONDS: Final = 300


def main(program: str) -> int:
    """Audit with this pip-audit, and return the exit code."""
    report = ask(program)
    known = [one for one in report if "skip_reason" not in one]
    for one in known:
        for weakness in one["vulns"]:
            fixed = ", ".join(weakness["fix_versions"]) or "none yet"
            print(f"{one['name']} {one['version']}: {weakness['id']}, fixed in {fixed}")
    if any(one["vulns"] for one in known):
        return 1
    if len(known) < len(report) or not report:
        print(f"Not audited: of {len(report) - len(known)} of {len(report)} packages no data can be reached.")
        return int(os.environ.get("GATEHOUSE_REQUIRE_AUDIT") == "1")
    print(f"No weakness is known of {len(known)} packages.")
    return 0


def ask(program: str) -> list[dict[str, Any]]:
    """Return what pip-audit says of each package, nothing if it says nothing."""
    command = [program, "--requirement", str(LOCK), "--require-hashes", "--no-deps", "--disable-pip"]
    try:
        done = subprocess.run(
            [*command, "--format", "json", "--progress-spinner", "off"],
            check=False,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, OSError, ValueError, KeyError):
        return []
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
