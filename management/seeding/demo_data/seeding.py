"""The creation of made-up data in a tenant. Safe to repeat: existing rows are not changed."""

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
from management.imports.records import ForeignUser, Place, Record
from management.seeding.demo_data import made_up

SOURCE: Final = "seed_demo"
_BATCH: Final = 500


class NotInProduction(ServiceError):
    """In production, creating made-up users needs a confirmation: they share one password."""

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
class Amounts:
    """The seed, and how many users, organizations and audit entries the tenant gets in total."""

    seed: int
    users: int
    organizations: int
    logs: int


@dataclass(slots=True)
class Result:
    """The numbers of new rows, and the password of the new users, if any."""

    issuer: str = ""
    users: int = 0
    organizations: int = 0
    logs: int = 0
    example: str = ""
    password: str | None = None


def prepare(
    amounts: Amounts, *, slug: str, in_use: bool = False, confirmed: bool = False, dry_run: bool = False
) -> Result:
    """Create the missing rows, including the tenant. With ``dry_run``, only count them.

    Raises:
        NotInProduction: this is production, and ``confirmed`` is false.
        TenantInUse: the tenant has other users, and ``in_use`` is false.
        Invalid: the slug breaks a rule.

    """
    if not settings.DEVELOPMENT and not confirmed:
        raise NotInProduction
    with tenancy.using(tenancy.EVERYWHERE):
        known = Tenant.objects.filter(slug=slug).first()
        if known is None and dry_run:
            return Result("", amounts.users, amounts.organizations, amounts.logs if amounts.users else 0)
        tenant = (known or tenants.provision(slug=slug, name="Demo")).to_active()
    with tenancy.using(tenant):
        ours = User.objects.filter(custom_data__imported__from=SOURCE)
        if not in_use and User.objects.exclude(pk__in=ours.values("pk")).exists():
            raise TenantInUse(slug)
        return _fill(tenant, amounts, dry_run=dry_run)


def _fill(tenant: ActiveTenant, amounts: Amounts, *, dry_run: bool) -> Result:
    made = Result(tenant.issuer)
    password = secrets.token_urlsafe(9)
    made.users = _create_users(amounts, passwords.hash_password(password), dry_run=dry_run)
    people = _get_user_ids(amounts)
    missing = [n for n in range(amounts.organizations) if n not in _get_organization_numbers(amounts.seed)]
    # Made-up entries are marked by their user agent, because the log has no other field for a mark.
    existing = Entry.objects.filter(tenant_id=tenant.id, user_agent=_agent(amounts.seed)).count()
    entries = range(existing, amounts.logs)
    made.organizations, made.logs = len(missing), len(entries)
    if dry_run:
        return made
    for number in missing:
        _create_organization(amounts.seed, number, people)
    _create_entries(tenant, amounts.seed, entries, people)
    if made.users:
        made.password, made.example = password, made_up.person(amounts.seed, 0)["username"]
    return made


def _create_users(amounts: Amounts, encoded: str, *, dry_run: bool) -> int:
    """Create the missing users through an import, whose rules apply, and return their number."""

    def to_user(raw: dict[str, Any]) -> ForeignUser:
        number = raw["number"]
        fields = made_up.person(amounts.seed, number)
        return ForeignUser(f"{amounts.seed}:{number}", fields, lambda: encoded)

    format_ = Format(read=lambda _: iter(()), to_user=to_user)
    importer = Importer(format_, Options(SOURCE, dry_run=dry_run), lambda _: None)
    for _ in importer.run(Record(Place("", n), {"number": n}) for n in range(amounts.users)):
        pass
    return importer.summary.imported


def _get_user_ids(amounts: Amounts) -> dict[int, UUID]:
    """Return the ids of the existing users by their numbers."""
    ours = User.objects.filter(custom_data__imported__from=SOURCE)
    ids = {}
    for pk, foreign_id in ours.values_list("pk", KT("custom_data__imported__id")).iterator():
        seed, _, number = foreign_id.partition(":")
        if int(seed) == amounts.seed and int(number) < amounts.users:
            ids[int(number)] = pk
    return ids


def _get_organization_numbers(seed: int) -> set[int]:
    ours = Organization.objects.filter(metadata__made_by=SOURCE, metadata__seed=seed)
    return {int(number) for number in ours.values_list(KT("metadata__number"), flat=True)}


@transaction.atomic
def _create_organization(seed: int, number: int, people: dict[int, UUID]) -> None:
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


def _create_entries(tenant: ActiveTenant, seed: int, numbers: range, people: dict[int, UUID]) -> None:
    """Write made-up sign-ins to the audit log."""
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
