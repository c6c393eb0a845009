"""``manage.py migrate``: Django's command with checks. It defers migrations that are not safe yet."""

from functools import partial
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections

from management.upgrades import grants, migration_lock, preflight
from management.upgrades.pending import Pending

# With one of these options the command is Django's own, without checks.
_UNCHECKED_OPTIONS: Final = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "prune")


class Command(migrate.Command):
    """Applies migrations that only add to the schema; those that remove something need ``--yes``."""

    help = (
        f"{migrate.Command.help} Safe while nodes of the previous release serve: contract migrations, which "
        "remove what earlier releases need, are applied only with --yes. See docs/upgrades.md."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for contract migrations and for waiting."""
        super().add_arguments(parser)
        parser.add_argument(
            "--yes",
            action="store_true",
            help="apply contract migrations too. Use it when no node runs an earlier release",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="with --yes: apply them even if a node that needs what they remove was seen recently",
        )
        parser.add_argument(
            "--lock-timeout",
            type=float,
            default=0.5,
            metavar="SECONDS",
            help="how long an attempt waits for a table lock; requests for the table wait too "
            "(default: %(default)s)",
        )
        parser.add_argument(
            "--patience",
            type=float,
            default=120,
            metavar="SECONDS",
            help="how long to wait for table locks or another migration before giving up "
            "(default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Apply the migrations that are safe, after the checks of ``preflight``.

        Raises:
            CommandError: a check refuses the migration.

        """
        connection = connections[options["database"]]
        if any(options.get(name) for name in _UNCHECKED_OPTIONS):
            super().handle(*args, **options)
            return
        with migration_lock.hold(connection, patience=options["patience"]):
            findings = preflight.check(connection, confirmed=options["yes"], forced=options["force"])
            if findings.refusals or findings.pending is None:
                raise CommandError("\n".join(findings.refusals))
            for warning in findings.warnings if options["verbosity"] else ():
                self.stderr.write(f"Note: {warning}")
            migration_lock.retry(
                connection,
                partial(self._migrate, findings.pending, *args, **options),
                lock_timeout=options["lock_timeout"],
                patience=options["patience"],
                say=lambda text: self.stderr.write(f"Note: {text}"),
            )
            if settings.DATABASE_SERVING_ROLE and connection.vendor == "postgresql":
                grants.grant(connection, settings.DATABASE_SERVING_ROLE)

    def _migrate(self, found: Pending, *args: Any, **options: Any) -> None:
        if options["yes"] or found.fresh or not found.contract:
            super().handle(*args, **options)
            return
        for app, name in found.last_of_each_app.items():
            super().handle(*args, **options | {"app_label": app, "migration_name": name})
        deferred = ", ".join(".".join(name) for name in found.contract)
        self.stdout.write(
            f"Not applied, because earlier releases need what they remove: {deferred}. "
            "When all nodes run this release, run migrate --yes."
        )
