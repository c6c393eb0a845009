"""``manage.py seed_demo``: fill a tenant with made-up users, applications and a past."""

import json
from argparse import ArgumentTypeError
from dataclasses import asdict
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core import served_address
from identity.core.errors import ServiceError
from management.seeding import demo
from management.seeding.demo_data import seeding
from management.seeding.demo_data.seeding import Amounts, Choices, Result

_HELP: Final = (
    "Fill a tenant with made-up users, organizations, applications, roles, connectors, and three months of "
    "sign-ins and tokens. The same seed gives the same data, except for ids, times in the log and the "
    "password, which all users share. Safe to repeat: it adds what is missing, and says how to sign in."
)
_MAX_NUMBER: Final = 1_000_000
_AMOUNTS: Final = (
    ("users", 100, "number of users"),
    ("organizations", 10, "number of organizations"),
    ("logs", 500, "number of sign-ins in the audit log"),
    ("seed", 1, "the seed of the made-up data"),
)


class Command(BaseCommand):
    """Creates the demo data that is missing, and prints how to sign in."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        for name, number, text in _AMOUNTS:
            parser.add_argument(
                f"--{name}", type=_number, default=number, metavar="N", help=f"{text} (default: %(default)s)"
            )
        parser.add_argument(
            "--tenant",
            default=demo.TENANT,
            metavar="SLUG",
            help="the tenant, created if missing (default: %(default)s)",
        )
        parser.add_argument("--again", action="store_true", help="add as many to those that are there")
        parser.add_argument(
            "--reset-password", action="store_true", help="give all made-up users a new password"
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
        choices = Choices(
            in_use=options["in_use"],
            confirmed=options["yes"],
            dry_run=options["dry_run"],
            again=options["again"],
            reset_password=options["reset_password"],
        )
        try:
            made = seeding.prepare(amounts, slug=options["tenant"], choices=choices)
        except ServiceError as refused:
            raise CommandError(refused.message) from None
        made.issuer = served_address.get() + made.issuer.removeprefix(settings.BASE_URL)
        if options["json"]:
            self.stdout.write(json.dumps(asdict(made)))
        else:
            self.stdout.write(_summary(made, dry_run=options["dry_run"]))


def _summary(made: Result, *, dry_run: bool) -> str:
    created = {"users": made.users, "organizations": made.organizations, "sign-ins": made.logs} | made.more
    listed = _list({name: number for name, number in created.items() if number})
    if dry_run:
        return f"Would create {listed or 'nothing'}."
    lines = [f"Created {listed}."] if listed else ["Everything is there already; nothing was created."]
    lines += [f"The tenant {made.tenant} has {_list(made.present)}.", ""]
    if made.password:
        lines += [f"  Sign in as     {made.example}, or any other user", f"  Password       {made.password}"]
    else:
        lines += [
            f"  Sign in as     {made.example}, with the password of the first run",
            "  Password       --reset-password makes a new one",
        ]
    if made.authenticator_key:
        lines += [f"  With a code    every fourth user; add the key {made.authenticator_key} to an app"]
    if made.suspended:
        lines += [f"  Suspended      {', '.join(made.suspended)}"]
    if made.locked:
        lines += [f"  Locked         {made.locked}, for an hour"]
    return "\n".join([*lines, f"  Issuer         {made.issuer}", "  More           --again"])


def _list(numbers: dict[str, int]) -> str:
    """Return numbers of things as a list in words."""
    parts = [f"{number:,} {name}" for name, number in numbers.items()]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) > _MAX_NUMBER:
        raise ArgumentTypeError(f"must be a whole number up to {_MAX_NUMBER:,}")
    return int(text)
