"""``manage.py seed_demo``: fill a tenant with made-up users, organizations and audit entries."""

import json
from argparse import ArgumentTypeError
from dataclasses import asdict
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core.errors import ServiceError
from management.seeding.demo_data import seeding
from management.seeding.demo_data.seeding import Amounts, Result

_HELP: Final = (
    "Fill a tenant with made-up users, organizations and sign-ins. The same seed gives the same data, except "
    "for ids, times in the log and the password, which all users share and which is shown once. Safe to "
    "repeat, with the same or larger numbers."
)
_MAX_NUMBER: Final = 1_000_000


class Command(BaseCommand):
    """Creates the demo data that is missing, and prints how to sign in."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument(
            "--users", type=_number, default=100, metavar="N", help="number of users (default: %(default)s)"
        )
        parser.add_argument(
            "--organizations",
            type=_number,
            default=10,
            metavar="N",
            help="number of organizations (default: %(default)s)",
        )
        parser.add_argument(
            "--logs",
            type=_number,
            default=500,
            metavar="N",
            help="number of audit entries (default: %(default)s)",
        )
        parser.add_argument(
            "--seed",
            type=_number,
            default=1,
            metavar="N",
            help="the seed of the made-up data (default: %(default)s)",
        )
        parser.add_argument(
            "--tenant",
            default="demo",
            metavar="SLUG",
            help="the tenant, created if missing (default: %(default)s)",
        )
        parser.add_argument("--in-use", action="store_true", help="allow a tenant that has other users")
        parser.add_argument("--yes", action="store_true", help="create the data even in production")
        parser.add_argument("--dry-run", action="store_true", help="only report what would be created")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Create what is missing and print the result.

        Raises:
            CommandError: this is production, an option is not allowed, or the tenant is in use.

        """
        amounts = Amounts(*(options[name] for name in ("seed", "users", "organizations", "logs")))
        try:
            made = seeding.prepare(
                amounts,
                slug=options["tenant"],
                in_use=options["in_use"],
                confirmed=options["yes"],
                dry_run=options["dry_run"],
            )
        except ServiceError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(json.dumps(asdict(made)) if options["json"] else _summary(made))


def _summary(made: Result) -> str:
    lines = [
        f"{name.capitalize():<14}{getattr(made, name):>8,}" for name in ("users", "organizations", "logs")
    ]
    if made.password:
        lines += ["", f"Sign in as    {made.example} or any other user", f"Password      {made.password}"]
    return "\n".join([*lines, f"Issuer        {made.issuer}"] if made.issuer else lines)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) > _MAX_NUMBER:
        raise ArgumentTypeError(f"must be a whole number up to {_MAX_NUMBER:,}")
    return int(text)
