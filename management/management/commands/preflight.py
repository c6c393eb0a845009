"""``manage.py preflight``: check before an upgrade whether ``migrate`` can run."""

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import connection

from management.upgrades import preflight
from management.upgrades.preflight import Findings


class Command(BaseCommand):
    """Reports whether ``migrate`` of this release can run on the database, and what it would apply."""

    help = (
        "Report whether migrate of this release can run on this database, and which migrations it would "
        "apply: now, with --yes, or after those. Changes nothing. The exit code is 1 if migrate would refuse."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--yes", action="store_true", help="check migrate --yes, which applies contract migrations too"
        )
        parser.add_argument("--json", action="store_true", help="print the findings as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Print the findings, and exit with 1 if there is a refusal."""
        findings = preflight.check(connection, confirmed=options["yes"])
        if options["json"]:
            self.stdout.write(json.dumps(asdict(findings)))
        else:
            self.stdout.write("\n".join(_lines(findings)))
        if findings.refusals:
            sys.exit(1)


def _lines(findings: Findings) -> list[str]:
    pending = findings.pending
    lines = [f"Refused: {refusal}" for refusal in findings.refusals]
    lines += [f"Note: {warning}" for warning in findings.warnings]
    lines += [
        f"Serving: {node.name}, release {node.release}, seen {node.seconds} seconds ago"
        for node in findings.nodes
    ]
    if pending is not None:
        lines += [f"Now:     {app}.{name}" for app, name in pending.expand]
        lines += [f"{'Now' if pending.fresh else '--yes'}:   {app}.{name}" for app, name in pending.contract]
        lines += [f"After:   {app}.{name}" for app, name in pending.behind]
        if not (pending.expand or pending.contract or pending.behind or findings.refusals):
            lines.append("Nothing to do: the database matches this release.")
    return lines
