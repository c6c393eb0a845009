"""``manage.py seed_conformance``: create what the OpenID Foundation's conformance suite needs."""

import json
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core.errors import ServiceError
from management.seeding.conformance import configuration, seeding
from management.seeding.conformance.seeding import SuiteData

_HELP: Final = (
    "Create two clients and a user for the OpenID Foundation's conformance suite, in a separate tenant, and "
    "print the configuration to paste there. Safe to repeat: existing rows are corrected, and secrets are "
    "shown only when they are created. A plan signs one user in about 60 times within 10 minutes from one "
    "address. The default limits allow that; if you lowered LIMIT_ADDRESS_SIGN_INS, LOCK_PAIR_FAILURES or "
    "LOCK_IDENTIFIER_FAILURES, raise them for the run. TRUSTED_PROXIES must name the server that terminates "
    "TLS, or all clients count as one address."
)


class Command(BaseCommand):
    """Creates the tenant, clients and user that the suite needs, and prints its configuration."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--suite",
            default="https://www.certification.openid.net",
            help="URL of the suite (default: %(default)s)",
        )
        parser.add_argument("--alias", required=True, help="the plan's alias, part of its redirect URIs")
        parser.add_argument(
            "--tenant", default="conformance", help="the tenant, created if missing (default: %(default)s)"
        )
        parser.add_argument("--in-use", action="store_true", help="allow a tenant that has other users")
        parser.add_argument("--rotate", action="store_true", help="create new secrets and a new password")
        parser.add_argument("--json", action="store_true", help="print only the configuration")

    def handle(self, *_: Any, **options: Any) -> None:
        """Create or correct the rows, and print the configuration.

        Raises:
            CommandError: BASE_URL or an option is not allowed, or the tenant is in use.

        """
        try:
            seeded = seeding.prepare(
                suite=options["suite"],
                alias=options["alias"],
                slug=options["tenant"],
                rotate=options["rotate"],
                in_use=options["in_use"],
            )
        except ServiceError as refused:
            raise CommandError(refused.message) from None
        text = json.dumps(configuration.build(seeded), indent=2)
        self.stdout.write(text if options["json"] else _summary(seeded, text))


def _summary(seeded: SuiteData, text: str) -> str:
    secrets = (
        "The secrets and the password are shown only this once."
        if seeded.is_complete
        else "Existing secrets are unchanged and not shown again; --rotate creates new ones."
    )
    return "\n".join(
        [
            f"Issuer    {seeded.issuer}",
            f"User      {seeded.username}",
            f"Callback  {seeded.suite}/test/a/{seeded.alias}/callback",
            "",
            f"{secrets} Paste this into the suite (JSON); docs/conformance.md lists the plans:",
            "",
            text,
        ]
    )
