"""``manage.py rotate_keys``: signing keys of tenants, and what older encryption keys still hold."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.encryption import columns
from identity.tenants.models import Tenant
from oidc.keys import services as keys
from oidc.keys.models import SigningKey

_HELP = (
    "Rotate the signing keys of tenants, or publish their next ones (--prepare) a day before. With --reseal, "
    "encrypt anew with the first of ENCRYPTION_KEYS what an older one holds. See docs/operations.md."
)
Step = dict[str, Any]


class Command(BaseCommand):
    """Prepares or rotates signing keys, and moves what is sealed to the newest encryption key."""

    help = _HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Take which tenants, and what to do."""
        parser.add_argument("--tenant", action="append", default=[], metavar="SLUG", help="may be repeated")
        parser.add_argument("--all", action="store_true", help="every tenant")
        parser.add_argument("--prepare", action="store_true", help="publish the next key, rotate nothing")
        parser.add_argument(
            "--reseal", action="store_true", help="encrypt anew what older keys hold, everywhere"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *_: Any, dry_run: bool, **options: Any) -> None:
        """Do it, and say what was done; 1 is the exit code when something was refused."""
        tenants = _tenants(options["tenant"], everyone=options["all"])
        if not tenants and (options["prepare"] or not options["reseal"]):
            raise CommandError("say whose signing keys: --tenant SLUG or --all (or only --reseal)")
        steps = [_step(tenant, prepare=options["prepare"], dry_run=dry_run) for tenant in tenants]
        resealed = _reseal(dry_run=dry_run) if options["reseal"] else []
        if options["json"]:
            self.stdout.write(json.dumps({"dry_run": dry_run, "tenants": steps, "resealed": resealed}))
        else:
            self.stdout.write("\n".join([*map(_step_told, steps), *map(_reseal_told, resealed)]))
        refused = sum("error" in step for step in steps) + sum(kind["closed"] for kind in resealed)
        if refused:
            raise CommandError(f"{refused} could not be done: see above")


def _tenants(slugs: list[str], *, everyone: bool) -> list[Tenant]:
    found = list(Tenant.objects.order_by("created_at", "pk"))
    if everyone:
        return found
    if unknown := set(slugs) - {tenant.slug for tenant in found}:
        raise CommandError(f"there is no tenant {', '.join(sorted(unknown))}")
    return [tenant for tenant in found if tenant.slug in slugs]


def _step(tenant: Tenant, *, prepare: bool, dry_run: bool) -> Step:
    """Prepare or rotate for one tenant; ``published_at`` is when relying parties could first see the key."""
    step: Step = {"tenant": tenant.slug, "action": "prepare" if prepare else "rotate"}
    with tenancy.using(tenant.activated()):
        active, waiting = SigningKey.objects.active().first(), SigningKey.objects.next().first()
        step["active"] = str(active.pk) if active else None
        try:
            key = waiting if dry_run else keys.prepare() if prepare else keys.rotate()
        except ServiceError as refused:
            return step | {"error": refused.message}
    # In a dry run a key that would be made has no name yet.
    step["kid"] = str(key.pk) if key else None
    step["published_at"] = key.published_at.isoformat() if key else None
    step["was_published"] = waiting is not None
    return step


def _reseal(*, dry_run: bool) -> list[Step]:
    """Seal anew what can be; ``left`` hangs on older keys still, ``moves`` says when that moves by itself."""
    told = []
    for kind in columns.declared():
        batches = [] if dry_run or not kind.purpose else list(columns.reencrypt(kind))
        told.append(
            {
                "kind": kind.name,
                "done": sum(batch.done for batch in batches),
                "closed": sum(batch.closed for batch in batches),
                "left": columns.under_older_keys(kind),
                "moves": kind.moves,
            }
        )
    return told


def _step_told(step: Step) -> str:
    if "error" in step:
        return f"{step['tenant']}: {step['error']}"
    if step["action"] == "prepare":
        made = "waits already" if step["was_published"] else "is published from now on"
        return f"{step['tenant']}: {step['kid'] or 'a new key'} {made}"
    if step["was_published"]:
        return f"{step['tenant']}: {step['kid']} signs, published since {step['published_at']}"
    return f"{step['tenant']}: {step['kid'] or 'a new key'} signs at once: nobody could see it before"


def _reseal_told(kind: Step) -> str:
    text = f"{kind['kind']}: {kind['done']} sealed anew, {kind['left']} left under older keys"
    if kind["closed"]:
        return f"{text}, of which {kind['closed']} open with no key of the ring"
    return f"{text}; they move {kind['moves']}" if kind["left"] and kind["moves"] else text
