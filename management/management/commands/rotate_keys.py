"""``manage.py rotate_keys``: rotate the signing keys of tenants, and re-encrypt stored data."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.encryption import columns
from identity.tenants.models import Tenant
from oidc.keys import active_keys
from oidc.keys import services as keys
from oidc.keys.models import SigningKey

_HELP = (
    "Rotate the signing keys of tenants. Use --prepare a day before, to publish the next keys. With "
    "--reseal, re-encrypt stored data with the first key of ENCRYPTION_KEYS. See docs/operations.md."
)
Step = dict[str, Any]


class Command(BaseCommand):
    """Prepares or rotates signing keys, and re-encrypts stored data with the newest encryption key."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tenant", action="append", default=[], metavar="SLUG", help="can be repeated")
        parser.add_argument("--all", action="store_true", help="every tenant")
        parser.add_argument("--prepare", action="store_true", help="publish the next keys, rotate nothing")
        parser.add_argument(
            "--reseal", action="store_true", help="re-encrypt the data of all tenants that has an older key"
        )
        parser.add_argument("--dry-run", action="store_true", help="report what would change, change nothing")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *_: Any, dry_run: bool, **options: Any) -> None:
        """Prepare, rotate or re-encrypt, and print the result.

        Raises:
            CommandError: no tenant was named, or a tenant or a row failed.

        """
        tenants = _tenants(options["tenant"], everyone=options["all"])
        if not tenants and (options["prepare"] or not options["reseal"]):
            raise CommandError("use --tenant SLUG or --all to choose tenants, or --reseal without --prepare")
        steps = [
            step for tenant in tenants for step in _steps(tenant, prepare=options["prepare"], dry_run=dry_run)
        ]
        resealed = _reencrypt(dry_run=dry_run) if options["reseal"] else []
        if options["json"]:
            self.stdout.write(json.dumps({"dry_run": dry_run, "tenants": steps, "resealed": resealed}))
        else:
            self.stdout.write("\n".join([*map(_step_text, steps), *map(_reencryption_text, resealed)]))
        failed = sum("error" in step for step in steps) + sum(kind["closed"] for kind in resealed)
        if failed:
            raise CommandError(f"{failed} failed: see above")


def _tenants(slugs: list[str], *, everyone: bool) -> list[Tenant]:
    tenants = list(Tenant.objects.order_by("created_at", "pk"))
    if everyone:
        return tenants
    if unknown := set(slugs) - {tenant.slug for tenant in tenants}:
        raise CommandError(f"there is no tenant {', '.join(sorted(unknown))}")
    return [tenant for tenant in tenants if tenant.slug in slugs]


def _steps(tenant: Tenant, *, prepare: bool, dry_run: bool) -> list[Step]:
    """Prepare or rotate the keys of one tenant, and return the result for each algorithm."""
    with tenancy.using(tenant.to_active()):
        return [
            {"tenant": tenant.slug, **_step(algorithm, prepare=prepare, dry_run=dry_run)}
            for algorithm in active_keys.get_algorithms()
        ]


def _step(algorithm: str, *, prepare: bool, dry_run: bool) -> Step:
    """Prepare or rotate the key of one algorithm, and return the result.

    ``published_at`` is the time at which the key was added to the key set.
    """
    step: Step = {"action": "prepare" if prepare else "rotate", "algorithm": algorithm}
    of_algorithm = SigningKey.objects.filter(algorithm=algorithm)
    active, waiting = of_algorithm.active().first(), of_algorithm.next().first()
    step["active"] = str(active.pk) if active else None
    change = keys.prepare if prepare else keys.rotate
    try:
        key = waiting if dry_run else change(algorithm)
    except ServiceError as refused:
        return step | {"error": refused.message}
    # In a dry run, a key that would be created has no id.
    step["kid"] = str(key.pk) if key else None
    step["published_at"] = key.published_at.isoformat() if key else None
    step["was_published"] = waiting is not None
    return step


def _reencrypt(*, dry_run: bool) -> list[Step]:
    """Re-encrypt each kind of encrypted row, and return a result for each.

    ``done`` is the number of re-encrypted rows, ``closed`` of rows whose key is missing, ``left`` of rows
    that still need an older key. ``moves`` says when those rows are re-encrypted without this command.
    """
    results = []
    for kind in columns.get_columns():
        batches = [] if dry_run or not kind.purpose else list(columns.reencrypt(kind))
        results.append(
            {
                "kind": kind.name,
                "done": sum(batch.reencrypted for batch in batches),
                "closed": sum(batch.undecryptable for batch in batches),
                "left": columns.count_outdated(kind),
                "moves": kind.moves,
            }
        )
    return results


def _step_text(step: Step) -> str:
    if "error" in step:
        return f"{step['tenant']}: {step['algorithm']}: {step['error']}"
    key = f"{step['algorithm']} {step['kid'] or 'a new key'}"
    if step["action"] == "prepare":
        published = "was published before" if step["was_published"] else "is now published"
        return f"{step['tenant']}: {key} {published}"
    if step["was_published"]:
        return f"{step['tenant']}: {key} now signs; published since {step['published_at']}"
    return f"{step['tenant']}: {key} now signs; it was not published before"


def _reencryption_text(kind: Step) -> str:
    text = f"{kind['kind']}: {kind['done']} re-encrypted, {kind['left']} still need older keys"
    if kind["closed"]:
        return f"{text}, {kind['closed']} of them a key that is missing from ENCRYPTION_KEYS"
    return f"{text}; they are re-encrypted {kind['moves']}" if kind["left"] and kind["moves"] else text
