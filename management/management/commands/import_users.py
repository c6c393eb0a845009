"""``manage.py import_users``: import the users of another system."""

import json
import os
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from itertools import chain, count
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core import tenancy
from identity.core.errors import Invalid, ServiceError
from identity.core.tenancy import ActiveTenant
from identity.tenants.models import Tenant
from management.imports import files, formats, own
from management.imports.importer import Importer, Options, Summary

_HELP: Final = (
    "Import users from CSV or JSON lines, or from an export of Keycloak, Auth0, Firebase, Logto or Django. "
    "Safe to repeat: users imported before are recognised by their id in the other system. "
    "docs/migrate-from.md explains how to export and how fields map. The exit code is 1 if a row was refused."
)
_LABELS: Final = {"without_password": "Unsupported hash dropped", "without_hash": "No hash in the file"}
_SHOWN: Final = 20
_INTERRUPTED: Final = 130

Report = Callable[[dict[str, Any]], None]


class Command(BaseCommand):
    """Imports users, and reports every row that it refuses."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=_file, metavar="FILE")
        parser.add_argument("--tenant", required=True, metavar="SLUG", help="the tenant to import into")
        parser.add_argument(
            "--format", choices=formats.NAMES, help="format of the files (default: by the first file's name)"
        )
        parser.add_argument(
            "--source",
            help="name of the other system, if two have the same format (default: the format)",
        )
        parser.add_argument(
            "--firebase-parameters",
            type=_file,
            metavar="FILE",
            help="file with the password hash parameters of the Firebase project",
        )
        parser.add_argument(
            "--auth0-passwords",
            type=_file,
            metavar="FILE",
            help="file with the password hashes, as Auth0's support sends it",
        )
        parser.add_argument(
            "--drop-unknown-hashes",
            action="store_true",
            help="import users whose password hash is not supported, but without a password",
        )
        parser.add_argument(
            "--batch",
            type=_batch,
            default=500,
            metavar="N",
            help="users per transaction (default: %(default)s)",
        )
        parser.add_argument("--dry-run", action="store_true", help="check everything, store nothing")
        parser.add_argument(
            "--report", type=Path, metavar="FILE", help="write the problems to this file, as JSON lines"
        )
        parser.add_argument("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Import the users, print the summary, and exit with 1 if a row was refused.

        Raises:
            CommandError: an option or a file is invalid, or the tenant does not exist.

        """
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
            self._end(summary, options, "Interrupted. Run the same command to continue.")
            sys.exit(_INTERRUPTED)
        self._end(summary, options, "Nothing was stored: this was a dry run." if options["dry_run"] else "")
        if summary.refused:
            sys.exit(1)

    def _run(self, report: Report, options: dict[str, Any]) -> Iterator[Summary]:
        paths: list[Path] = options["files"]
        name = options["format"] or formats.guess_format(paths[0])
        format_ = formats.get_format(
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
        if name == "csv":
            _check_headings(paths)
        importer = Importer(format_, chosen, report)
        yield importer.summary
        yield from importer.run(chain.from_iterable(format_.read(path) for path in paths))

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
            label = _LABELS.get(name, name.replace("_", " ").capitalize())
            self.stdout.write(f"{label:<26}{number:>10,}")
        if remark:
            self.stdout.write(remark)


def _check_headings(paths: list[Path]) -> None:
    """Refuse an unknown column once, and not in each row."""
    columns = f"the columns are {', '.join(own.COLUMNS)}"
    for path in paths:
        try:
            own.check_columns([name for name in files.csv_heading(path) if name])
        except Invalid as refusal:
            if refusal.field == own.LINE:
                raise CommandError(
                    f"{path}: the first line must have the names of the columns, separated by commas; "
                    f"{columns}"
                ) from None
            raise CommandError(
                f"{path}: the heading has an unknown column {refusal.field}; {columns}"
            ) from None


@contextmanager
def _report(path: Path | None, say: Callable[[str], None]) -> Iterator[Report]:
    """Yield a function that reports a problem: to the file, which only its owner can read, or to ``say``.

    Without a file, only the first ``_SHOWN`` problems are reported.
    """
    if path is None:
        numbers = count(1)

        def say_first(problem: dict[str, Any]) -> None:
            number = next(numbers)
            if number <= _SHOWN:
                say(json.dumps(problem))
            elif number == _SHOWN + 1:
                say("… and more. Use --report FILE to get all of them.")

        yield say_first
        return
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        yield lambda problem: print(json.dumps(problem), file=file, flush=True)


def _tenant(slug: str) -> ActiveTenant:
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        raise CommandError(f"there is no tenant {slug}")
    return tenant.to_active()


def _file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise ArgumentTypeError(f"there is no file {text}")
    return path


def _batch(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if not 1 <= number <= 5000:  # noqa: PLR2004 - other transactions wait for this one
        raise ArgumentTypeError("must be a whole number from 1 to 5000")
    return number
