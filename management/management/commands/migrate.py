"""``manage.py migrate``: Django's, which looks first whether it may, and leaves some for later."""

from functools import partial
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections

from management.upgrades import grants, preflight, turn
from management.upgrades.pending import Pending

# Who names an app or asks for something special knows what they do.
_SPECIAL: Final = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "prune")


class Command(migrate.Command):
    """Applies what only adds to the schema; what takes away waits for ``--yes``."""

    help = (
        f"{migrate.Command.help} Safe while nodes of the release before serve: contracts, which take away "
        "what earlier releases need, wait for --yes. docs/upgrades.md says more."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the operator's word, and how long a table may be waited for."""
        super().add_arguments(parser)
        parser.add_argument(
            "--yes", action="store_true", help="apply contracts too: no node of an earlier release runs"
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="with --yes: although nodes that need what contracts take away were seen a moment ago",
        )
        parser.add_argument(
            "--lock-timeout",
            type=float,
            default=0.5,
            metavar="SECONDS",
            help="wait for a table no longer than this at a time, since others wait meanwhile "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--patience",
            type=float,
            default=120,
            metavar="SECONDS",
            help="give up when tables or another migration are in the way for longer (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Look first, then migrate as far as it is safe."""
        connection = connections[options["database"]]
        if any(options.get(name) for name in _SPECIAL):
            super().handle(*args, **options)
            return
        with turn.taken(connection, patience=options["patience"]):
            findings = preflight.look(connection, confirmed=options["yes"], forced=options["force"])
            if findings.refusals or findings.pending is None:
                raise CommandError("\n".join(findings.refusals))
            for warning in findings.warnings if options["verbosity"] else ():
                self.stderr.write(f"Note: {warning}")
            turn.insist(
                connection,
                partial(self._migrate, findings.pending, *args, **options),
                lock_timeout=options["lock_timeout"],
                patience=options["patience"],
                say=lambda said: self.stderr.write(f"Note: {said}"),
            )
            if settings.DATABASE_SERVING_ROLE and connection.vendor == "postgresql":
                grants.grant(connection, settings.DATABASE_SERVING_ROLE)

    def _migrate(self, found: Pending, *args: Any, **options: Any) -> None:
        if options["yes"] or found.fresh or not found.contract:
            super().handle(*args, **options)
            return
        for app, name in found.last_of_each_app.items():
            super().handle(*args, **options | {"app_label": app, "migration_name": name})
        waiting = ", ".join(".".join(name) for name in found.contract)
        self.stdout.write(
            f"{waiting} waits: it takes away what earlier releases need. "
            "When all nodes run this release: migrate --yes"
        )
