"""``manage.py doctor``: what is wrong with this installation, and how to mend it."""

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
    """Asks everything that can be asked from here; changes nothing."""

    help = (
        "Say what is wrong with this installation and how to mend it: address, certificate, clock, "
        "database, keys, "
        "messages, redirect URIs, files, administrators. Changes nothing, prints no secret. The exit code "
        "is 1 "
        "when something is wrong."
    )
    # A check that fails is what this is for.
    requires_system_checks: Final = []  # type: ignore[misc]

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how to tell, and from when on it is wrong."""
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")
        parser.add_argument(
            "--fail-level",
            choices=["warning", "error"],
            default="warning",
            help="what the exit code 1 is for (default: %(default)s)",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        """Print what was found."""
        found = [_shown(finding) for finding in examination.findings()]
        bad = {"warning", "error"} if options["fail_level"] == "warning" else {"error"}
        is_healthy = not any(finding["level"] in bad for finding in found)
        if options["json"]:
            self.stdout.write(json.dumps({"healthy": is_healthy, "findings": found}))
        else:
            self.stdout.write("\n".join(map(_told, found)))
            self.stdout.write(_summary(found))
        if not is_healthy:
            sys.exit(1)


def _shown(finding: CheckMessage) -> dict[str, str]:
    level = next(name for least, name in reversed(_LEVELS.items()) if finding.level >= least)
    return {"id": str(finding.id), "level": level, "message": finding.msg, "fix": finding.hint or ""}


def _told(finding: dict[str, str]) -> str:
    margin = " " * 9
    lines = [fill(finding["message"], 100, initial_indent=f"{finding['level']:9}", subsequent_indent=margin)]
    if finding["fix"]:
        lines.append(fill(f"Fix: {finding['fix']}.", 100, initial_indent=margin, subsequent_indent=margin))
    return "\n".join([*lines, f"{margin}[{finding['id']}]", ""])


def _summary(found: list[dict[str, str]]) -> str:
    levels = [finding["level"] for finding in found]
    wrong = [
        f"{number} {level}{'' if number == 1 else 's'}"
        for level in ("error", "warning")
        if (number := levels.count(level))
    ]
    return f"Found {' and '.join(wrong)}." if wrong else "Nothing is wrong."
