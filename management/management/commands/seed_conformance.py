"""``manage.py seed_conformance``: make ready for the OpenID Foundation's conformance suite."""

import json
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core.errors import ServiceError
from management.seeding.conformance import configuration, seeding
from management.seeding.conformance.seeding import Seeded

_HELP: Final = (
    "Make two clients and a person for the OpenID Foundation's conformance suite, in a tenant of their own, "
    "and print the configuration to paste there. Safe to repeat: what is there is mended, and secrets are "
    "shown only when they are made. A plan signs one person in some sixty times within ten minutes, from "
    "one address. The default limits allow that; where LIMIT_ADDRESS_SIGN_INS, LOCK_PAIR_FAILURES or "
    "LOCK_IDENTIFIER_FAILURES were lowered, give them room. TRUSTED_PROXIES has to name the server that "
    "terminates TLS, or all clients count as one address."
)


class Command(BaseCommand):
    """Makes what the suite tests with, and prints what it has to be told."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the suite's address and the alias that its redirect URIs are made from."""
        parser.add_argument(
            "--suite", default="https://www.certification.openid.net", help="the suite (default: %(default)s)"
        )
        parser.add_argument("--alias", required=True, help="the alias of the plan, part of its redirect URIs")
        parser.add_argument(
            "--tenant", default="conformance", help="the tenant, made if missing (default: %(default)s)"
        )
        parser.add_argument("--in-use", action="store_true", help="take a tenant that has others in it")
        parser.add_argument("--rotate", action="store_true", help="make new secrets and a new password")
        parser.add_argument("--json", action="store_true", help="print the configuration and nothing else")

    def handle(self, *_: Any, **options: Any) -> None:
        """Do it, and print the configuration."""
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
        text = json.dumps(configuration.configuration(seeded), indent=2)
        self.stdout.write(text if options["json"] else _explained(seeded, text))


def _explained(seeded: Seeded, text: str) -> str:
    kept = (
        "Secrets and password are shown this once."
        if seeded.is_complete
        else "What was here keeps its secrets, which are not shown again; --rotate makes new ones."
    )
    return "\n".join(
        [
            f"Issuer    {seeded.issuer}",
            f"Person    {seeded.username}",
            f"Callback  {seeded.suite}/test/a/{seeded.alias}/callback",
            "",
            f"{kept} Paste this into the suite (JSON); docs/conformance.md says which plans apply:",
            "",
            text,
        ]
    )
