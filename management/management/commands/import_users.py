"""``manage.py import_users``: take over the users of another system."""

import json
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.tenancy import ActiveTenant
from identity.tenants.models import Tenant
from management.imports import formats
from management.imports.running import Import, Options, Summary

_HELP: Final = (
    "Import users from CSV or JSON lines, or from an export of Keycloak, Auth0, Firebase, Logto or Django. "
    "Safe to repeat: who was imported before is recognised by the id they had there. docs/migrate-from.md "
    "says how to export and what maps to what. Exit code 1 when a row was refused."
)
_SHOWN: Final = 20
_INTERRUPTED: Final = 130

Report = Callable[[dict[str, Any]], None]


class Command(BaseCommand):
    """Imports users, and reports every row that it refuses."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the files, the tenant, and what an operator may choose."""
        parser.add_argument("files", nargs="+", type=_file, metavar="FILE")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="the tenant that they come into")
        parser.add_argument("--format", choices=formats.NAMES, help="default: by the file's name")
        parser.add_argument(
            "--source",
            help="where they come from, if two sources have the same format (default: the format)",
        )
        parser.add_argument("--firebase-parameters", type=_file, metavar="FILE", help="of the project")
        parser.add_argument("--auth0-passwords", type=_file, metavar="FILE", help="what Auth0's support sent")
        parser.add_argument(
            "--drop-unknown-hashes",
            action="store_true",
            help="import people whose password hash cannot be taken, without a password",
        )
        parser.add_argument(
            "--batch", type=_batch, default=500, metavar="N", help="users a transaction (500)"
        )
        parser.add_argument("--dry-run", action="store_true", help="check everything, store nothing")
        parser.add_argument("--report", type=Path, metavar="FILE", help="write what is wrong, as JSON lines")
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do it, say how it went, and fail if somebody was refused."""
        summary = Summary()
        try:
            with _report(options["report"], self._say) as report, tenancy.using(_tenant(options["tenant"])):
                for summary in self._run(report, options):
                    self._progress(summary)
        except ServiceError as refused:
            raise CommandError(refused.message) from None
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from None
        except KeyboardInterrupt:
            self._end(summary, options, "Interrupted: the same command goes on where this one stopped.")
            sys.exit(_INTERRUPTED)
        self._end(summary, options, "Nothing was stored: this was a dry run." if options["dry_run"] else "")
        if summary.refused:
            sys.exit(1)

    def _run(self, report: Report, options: dict[str, Any]) -> Iterator[Summary]:
        paths: list[Path] = options["files"]
        name = options["format"] or formats.guessed(paths[0])
        form = formats.of(
            name,
            firebase_parameters=options["firebase_parameters"],
            auth0_passwords=options["auth0_passwords"],
        )
        chosen = Options(
            source=options["source"] or name,
            batch=options["batch"],
            dry_run=options["dry_run"],
            drop_unknown_hashes=options["drop_unknown_hashes"],
        )
        running = Import(form, chosen, report)
        yield running.summary
        yield from running.run(chain.from_iterable(form.read(path) for path in paths))

    def _say(self, line: str) -> None:
        self.stderr.write(line)

    def _progress(self, summary: Summary) -> None:
        if self.stderr.isatty():
            done = summary.imported + summary.present
            self.stderr.write(f"\r{done:,} imported, {summary.refused:,} refused", ending="")

    def _end(self, summary: Summary, options: dict[str, Any], remark: str) -> None:
        if self.stderr.isatty():
            self.stderr.write("")
        if options["json"]:
            self.stdout.write(json.dumps(asdict(summary) | {"dry_run": options["dry_run"]}))
            return
        for name, number in asdict(summary).items():
            self.stdout.write(f"{name.replace('_', ' ').capitalize():<17}{number:>10,}")
        if remark:
            self.stdout.write(remark)


@contextmanager
def _report(path: Path | None, say: Callable[[str], None]) -> Iterator[Report]:
    """Write what is wrong into a file that its owner alone reads; without one say the first of it."""
    if path is None:
        left = iter([*[True] * _SHOWN, False])

        def tell(complaint: dict[str, Any]) -> None:
            more = next(left, None)
            if more is not None:
                say(json.dumps(complaint) if more else "… and more: --report FILE has all of it")

        yield tell
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        yield lambda complaint: print(json.dumps(complaint), file=file, flush=True)


def _tenant(slug: str) -> ActiveTenant:
    with tenancy.using(tenancy.EVERYWHERE):
        found = Tenant.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"there is no tenant {slug}")
    return found.activated()


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise ArgumentTypeError(f"there is no file {text}")
    return path


def _batch(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 5000:  # noqa: PLR2004 - a transaction that others wait for
        raise ArgumentTypeError("must be 1 to 5000")
    return number
