"""``manage.py purge``: delete expired rows."""

import json
import time
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import retention
from identity.core import expiry

_NOT_PERMITTED: Final = (
    "Audit entries past their retention time were not deleted, because only the owner of the tables may "
    "delete them: run manage.py purge with the owner's DATABASE_URL (docs/operations.md, A timer)."
)


class Command(BaseCommand):
    """Deletes expired rows in small transactions, while servers serve."""

    help = (
        "Delete the expired rows of all tenants: authorization requests, codes, sessions, refresh families, "
        "counters, remains of deleted rows, and audit entries past the tenant's retention time. Uses small "
        "transactions and can run while servers serve. Safe to interrupt and to repeat."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="count expired rows, delete nothing")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")
        parser.add_argument(
            "--batch",
            type=_positive,
            default=expiry.BATCH,
            help="rows per transaction (default: %(default)s)",
        )
        parser.add_argument(
            "--seconds",
            type=_positive,
            help="stop after this many seconds; the next run continues (default: no limit)",
        )

    def handle(self, *_: Any, dry_run: bool, seconds: int | None, **options: Any) -> None:
        """Delete expired rows, or count them with ``--dry-run``, and print the numbers.

        Raises:
            CommandError: the database role may not delete audit entries. The other rows are deleted.

        """
        ends_at = None if seconds is None else time.monotonic() + seconds
        rows: dict[str, int] = {}
        permitted = True
        for name, count, delete in _kinds(options["batch"]):
            try:
                rows[name] = count() if dry_run else self._delete(name, delete(), ends_at)
            except retention.NotPermitted:
                rows[name], permitted = 0, False
        complete = permitted and (ends_at is None or time.monotonic() <= ends_at)
        if options["json"]:
            self.stdout.write(json.dumps({"dry_run": dry_run, "complete": complete, "rows": rows}))
        else:
            self.stdout.write(_summary(rows, dry_run=dry_run, complete=complete or not permitted))
        if not permitted:
            raise CommandError(_NOT_PERMITTED)

    def _delete(self, name: str, batches: Iterator[int], ends_at: float | None) -> int:
        total = 0
        for deleted in _until(ends_at, batches):
            total += deleted
            if self.stderr.isatty():
                self.stderr.write(f"\r{name} {total:,}", ending="")
        if self.stderr.isatty():
            self.stderr.write("")
        return total


def _kinds(batch: int) -> Iterator[tuple[str, Callable[[], int], Callable[[], Iterator[int]]]]:
    """Yield the name of each kind of row, and functions that count and delete the expired rows."""
    for kind in expiry.get_kinds():
        yield kind.name, partial(expiry.count, kind), partial(expiry.purge, kind, batch=batch)
    # Only this command deletes audit entries. Servers never do.
    yield "audit_entries", retention.count_expired, partial(retention.purge, batch=batch)


def _until(ends_at: float | None, batches: Iterator[int]) -> Iterator[int]:
    while ends_at is None or time.monotonic() <= ends_at:
        deleted = next(batches, None)
        if deleted is None:
            return
        yield deleted


def _summary(rows: dict[str, int], *, dry_run: bool, complete: bool) -> str:
    width = max(map(len, rows), default=0)
    lines = [f"{name:{width}}  {number:>9,}" for name, number in rows.items()]
    lines.append("Nothing was deleted." if dry_run else f"Deleted {sum(rows.values()):,} rows.")
    if not complete:
        lines.append("Stopped at the time limit before everything was deleted. The next run continues.")
    return "\n".join(lines)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("must be a whole number, 1 or more")
    return int(text)
