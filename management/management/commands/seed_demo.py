"""``manage.py seed_demo``: people, organizations and a past to show, or to try things out with."""

import json
from argparse import ArgumentTypeError
from dataclasses import asdict
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core.errors import ServiceError
from management.seeding.demo_data import seeding
from management.seeding.demo_data.seeding import Made, Wanted

_HELP: Final = (
    "Fill a tenant with made-up users, organizations and sign-ins: the same for the same seed, save ids, "
    "moments of the log and the password, which all of them share and which is shown once. Safe to repeat, "
    "with greater numbers too."
)
_MOST: Final = 1_000_000


class Command(BaseCommand):
    """Makes what is missing of it, and says how to sign in."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how much, where, and what an operator has to confirm."""
        parser.add_argument("--users", type=_number, default=100, metavar="N", help="default: %(default)s")
        parser.add_argument(
            "--organizations", type=_number, default=10, metavar="N", help="default: %(default)s"
        )
        parser.add_argument("--logs", type=_number, default=500, metavar="N", help="default: %(default)s")
        parser.add_argument(
            "--seed", type=_number, default=1, help="other people for another (default: %(default)s)"
        )
        parser.add_argument(
            "--tenant", default="demo", metavar="SLUG", help="made if missing (default: %(default)s)"
        )
        parser.add_argument("--in-use", action="store_true", help="take a tenant that has other users")
        parser.add_argument("--yes", action="store_true", help="do it in production")
        parser.add_argument("--dry-run", action="store_true", help="only say how much would be made")
        parser.add_argument("--json", action="store_true", help="print what was made as JSON")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do it, and say what was made."""
        wanted = Wanted(*(options[name] for name in ("seed", "users", "organizations", "logs")))
        try:
            made = seeding.prepare(
                wanted,
                slug=options["tenant"],
                in_use=options["in_use"],
                confirmed=options["yes"],
                dry_run=options["dry_run"],
            )
        except ServiceError as refused:
            raise CommandError(refused.message) from None
        self.stdout.write(json.dumps(asdict(made)) if options["json"] else _explained(made))


def _explained(made: Made) -> str:
    lines = [
        f"{name.capitalize():<14}{getattr(made, name):>8,}" for name in ("users", "organizations", "logs")
    ]
    if made.password:
        lines += ["", f"Sign in as    {made.example}, or any other of them", f"Password      {made.password}"]
    return "\n".join([*lines, f"Issuer        {made.issuer}"] if made.issuer else lines)


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST:
        raise ArgumentTypeError(f"must be a whole number up to {_MOST:,}")
    return int(text)
