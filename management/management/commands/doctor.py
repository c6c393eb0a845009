"""``manage.py doctor``: report what is wrong with this installation, and how to fix it."""

import json
import sys
from textwrap import fill
from typing import Any, Final

from django.core import checks
from django.core.checks import CheckMessage
from django.core.management.base import BaseCommand, CommandParser

from management.doctor import examination

_LEVELS: Final = {checks.INFO: "info", checks.WARNING: "warning", checks.ERROR: "error"}


class Command(BaseCommand):
    """Runs all checks of the installation and prints the findings. Changes nothing."""

    help = (
        "Report what is wrong with this installation and how to fix it. Checks the address, certificate, "
        "clock, database, cache, keys, connectors, messages, redirect URIs, files and administrators. "
        "Changes nothing and prints no secrets. The exit code is 1 if there is an error or a warning."
    )
    # This command reports failed checks itself.
    requires_system_checks: Final = []  # type: ignore[misc]

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the output and failure-level options."""
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")
        parser.add_argument(
            "--fail-level",
            choices=["warning", "error"],
            default="warning",
            help="the lowest level for which the exit code is 1 (default: %(default)s)",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Print the findings, and exit with 1 if one is at or above the failure level."""
        findings = [_as_dict(finding) for finding in examination.findings()]
        bad = {"warning", "error"} if options["fail_level"] == "warning" else {"error"}
        is_healthy = not any(finding["level"] in bad for finding in findings)
        if options["json"]:
            self.stdout.write(json.dumps({"healthy": is_healthy, "findings": findings}))
        else:
            self.stdout.write("\n".join(map(_as_text, findings)))
            self.stdout.write(_summary(findings))
        if not is_healthy:
            sys.exit(1)


def _as_dict(finding: CheckMessage) -> dict[str, str]:
    level = next(name for minimum, name in reversed(_LEVELS.items()) if finding.level >= minimum)
    return {"id": str(finding.id), "level": level, "message": finding.msg, "fix": finding.hint or ""}


def _as_text(finding: dict[str, str]) -> str:
    margin = " " * 9
    lines = [fill(finding["message"], 100, initial_indent=f"{finding['level']:9}", subsequent_indent=margin)]
    if finding["fix"]:
        lines.append(fill(f"Fix: {finding['fix']}.", 100, initial_indent=margin, subsequent_indent=margin))
    return "\n".join([*lines, f"{margin}[{finding['id']}]", ""])


def _summary(found: list[dict[str, str]]) -> str:
    levels = [finding["level"] for finding in found]
    counts = [
        f"{number} {level}{'' if number == 1 else 's'}"
        for level in ("error", "warning")
        if (number := levels.count(level))
    ]
    return f"Found {' and '.join(counts)}." if counts else "Nothing is wrong."
