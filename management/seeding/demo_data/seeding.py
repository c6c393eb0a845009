"""Fills a tenant with made-up data. Safe to repeat: existing rows are not changed."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.fields.json import KT
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.tenancy import ActiveTenant
from identity.organizations.models import Membership, Organization
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users import passwords
from identity.users.models import User
from management.imports.formats import Format
from management.imports.importer import Importer, Options
from management.imports.records import Foreign, Place, Raw
from management.seeding.demo_data import made_up

SOURCE: Final = "seed_demo"
_BATCH: Final = 500


class NotInProduction(ServiceError):
    """Made-up users, who share one password, need a confirmation in production."""

    reason = "not_in_production"
    message = (
        "this is production (DEBUG is not set), and all made-up users share one password: "
        "use --yes to create them anyway"
    )


class TenantInUse(ServiceError):
    """The tenant has other users."""

    reason = "tenant_in_use"

    def __init__(self, slug: str) -> None:
        super().__init__(f"the tenant {slug} has other users: choose another tenant, or use --in-use")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The seed, and the numbers of rows that the tenant should have in the end."""

    seed: int
    users: int
    organizations: int
    logs: int


@dataclass(slots=True)
class Made:
    """The numbers of new rows, and the password of the new users, if there are any."""

    issuer: str = ""
    users: int = 0
    organizations: int = 0
    logs: int = 0
    example: str = ""
    password: str | None = None


def prepare(
    wanted: Wanted, *, slug: str, in_use: bool = False, confirmed: bool = False, dry_run: bool = False
) -> Made:
    """Create what is missing, including the tenant. With ``dry_run``, only count it.

    Raises:
        NotInProduction: this is production, without ``confirmed``.
        TenantInUse: the tenant has other users, without ``in_use``.
        Invalid: the slug breaks a rule.

    """
    if not settings.DEVELOPMENT and not confirmed:
        raise NotInProduction
    with tenancy.using(tenancy.EVERYWHERE):
        known = Tenant.objects.filter(slug=slug).first()
        if known is None and dry_run:
            return Made("", wanted.users, wanted.organizations, wanted.logs if wanted.users else 0)
        tenant = (known or tenants.provision(slug=slug, name="Demo")).to_active()
    with tenancy.using(tenant):
        ours = User.objects.filter(custom_data__imported__from=SOURCE)
        if not in_use and User.objects.exclude(pk__in=ours.values("pk")).exists():
            raise TenantInUse(slug)
        return _fill(tenant, wanted, dry_run=dry_run)


def _fill(tenant: ActiveTenant, wanted: Wanted, *, dry_run: bool) -> Made:
    made = Made(tenant.issuer)
    password = secrets.token_urlsafe(9)
    made.users = _people(wanted, passwords.hash_password(password), dry_run=dry_run)
    people = _by_number(wanted)
    missing = [n for n in range(wanted.organizations) if n not in _organizations(wanted.seed)]
    # The user agent marks the made-up entries, because the log has no other field for it.
    there = Entry.objects.filter(tenant_id=tenant.id, user_agent=_agent(wanted.seed)).count()
    entries = range(there, wanted.logs)
    made.organizations, made.logs = len(missing), len(entries)
    if dry_run:
        return made
    for number in missing:
        _organization(wanted.seed, number, people)
    _past(tenant, wanted.seed, entries, people)
    if made.users:
        made.password, made.example = password, made_up.person(wanted.seed, 0)["username"]
    return made


def _people(wanted: Wanted, encoded: str, *, dry_run: bool) -> int:
    """Create the users through an import, so its rules apply, and return their number."""

    def person(raw: dict[str, Any]) -> Foreign:
        number = raw["number"]
        fields = made_up.person(wanted.seed, number)
        return Foreign(f"{wanted.seed}:{number}", fields, lambda: encoded)

    form = Format(read=lambda _: iter(()), person=person)
    importer = Importer(form, Options(SOURCE, dry_run=dry_run), lambda _: None)
    for _ in importer.run(Raw(Place("", n), {"number": n}) for n in range(wanted.users)):
        pass
    return importer.summary.imported


def _by_number(wanted: Wanted) -> dict[int, UUID]:
    """Return the ids of the users that exist, by their numbers."""
    ours = User.objects.filter(custom_data__imported__from=SOURCE)
    found = {}
    for pk, foreign_id in ours.values_list("pk", KT("custom_data__imported__id")).iterator():
        seed, _, number = foreign_id.partition(":")
        if int(seed) == wanted.seed and int(number) < wanted.users:
            found[int(number)] = pk
    return found


def _organizations(seed: int) -> set[int]:
    ours = Organization.objects.filter(metadata__made_by=SOURCE, metadata__seed=seed)
    return {int(number) for number in ours.values_list(KT("metadata__number"), flat=True)}


@transaction.atomic
def _organization(seed: int, number: int, people: dict[int, UUID]) -> None:
    mark = {"made_by": SOURCE, "seed": seed, "number": number}
    row = Organization.objects.create(**made_up.organization(seed, number), metadata=mark)
    log.record(Event.ORGANIZATION_CREATE, id=row.pk, name=row.name)
    chosen = [people[n] for n in made_up.members(seed, number, len(people)) if n in people]
    Membership.objects.bulk_create(
        Membership(organization=row, user_id=pk, is_admin=position == 0) for position, pk in enumerate(chosen)
    )
    if chosen:
        log.record(
            Event.ORGANIZATION_MEMBER_CREATE,
            id=row.pk,
            count=len(chosen),
            user_ids=[str(pk) for pk in chosen],
        )


def _agent(seed: int) -> str:
    return f"{SOURCE}/{seed}"


def _past(tenant: ActiveTenant, seed: int, numbers: range, people: dict[int, UUID]) -> None:
    """Write made-up sign-ins to the log; each entry is marked by its user agent."""
    rows = _sign_ins(tenant, seed, numbers, people)
    while batch := list(islice(rows, _BATCH)):
        Entry.objects.bulk_create(batch)


def _sign_ins(tenant: ActiveTenant, seed: int, numbers: range, people: dict[int, UUID]) -> Iterator[Entry]:
    now = timezone.now()
    for number in numbers:
        sign_in = made_up.sign_in(seed, number, len(people))
        user_id = people.get(sign_in["person"])
        payload = {name: sign_in[name] for name in ("result", "error") if sign_in[name]} | {"demo": True}
        yield Entry(
            tenant_id=tenant.id,
            key=Event.SIGN_IN_PASSWORD.value,
            payload=payload,
            user_id=str(user_id) if user_id and sign_in["result"] == "success" else None,
            ip=sign_in["ip"],
            user_agent=_agent(seed),
            created_at=now - timedelta(seconds=sign_in["seconds_ago"]),
        )
