"""The creation of made-up data in a tenant. Safe to repeat: existing rows are not changed."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models.fields.json import KT
from django.utils import timezone

from audit import daily, log
from audit.events import Event
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.core.tenancy import ActiveTenant
from identity.organizations.models import Membership, Organization
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users import passwords
from identity.users.models import User
from management.seeding.demo_data import (
    catalogue,
    history,
    live_sessions,
    made_up,
    people,
    second_factors,
    shared_secrets,
)
from management.seeding.demo_data.people import SOURCE

_ALL: Final = 10_000_000
_STRICT: Final = 5  # one organization in five requires two factors


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
    """The seed, and how many users, organizations and sign-ins the tenant gets in total."""

    seed: int
    users: int
    organizations: int
    logs: int


@dataclass(frozen=True, slots=True)
class Choices:
    """What the caller allows and wants: see the options of ``manage.py seed_demo``."""

    in_use: bool = False
    confirmed: bool = False
    dry_run: bool = False
    again: bool = False
    reset_password: bool = False


@dataclass(slots=True)
class Result:
    """The numbers of new rows and of all made-up rows, and how to sign in, if the password is known."""

    tenant: str = ""
    issuer: str = ""
    users: int = 0
    organizations: int = 0
    logs: int = 0
    more: dict[str, int] = field(default_factory=dict)
    present: dict[str, int] = field(default_factory=dict)
    example: str = ""
    password: str | None = None
    authenticator_key: str = ""
    suspended: list[str] = field(default_factory=list)
    locked: str = ""


def prepare(amounts: Amounts, *, slug: str, choices: Choices = Choices()) -> Result:
    """Create the missing rows, including the tenant. With ``dry_run``, only count them.

    Raises:
        NotInProduction: this is production, and the caller did not confirm.
        TenantInUse: the tenant has users, none of them made up, and the caller did not allow it.
        Invalid: the slug breaks a rule.

    """
    if not settings.DEVELOPMENT and not choices.confirmed:
        raise NotInProduction
    with tenancy.using(tenancy.EVERYWHERE):
        known = Tenant.objects.filter(slug=slug).first()
        if known is None and choices.dry_run:
            logs = amounts.logs if amounts.users else 0
            return Result("", "", amounts.users, amounts.organizations, logs)
        tenant = (known or tenants.provision(slug=slug, name="Northwind")).to_active()
    with tenancy.using(tenant):
        if not choices.in_use and User.objects.exists() and not people.of_demo().exists():
            raise TenantInUse(slug)
        return _fill(tenant, _increase(tenant, amounts) if choices.again else amounts, choices)


def _increase(tenant: ActiveTenant, amounts: Amounts) -> Amounts:
    """Return amounts with which as many rows are created as the caller asked for."""
    return replace(
        amounts,
        users=amounts.users + len(people.find(amounts.seed, _ALL)),
        organizations=amounts.organizations + len(_get_organization_numbers(amounts.seed)),
        logs=amounts.logs + history.count_sign_ins(tenant, amounts.seed),
    )


def _fill(tenant: ActiveTenant, amounts: Amounts, choices: Choices) -> Result:
    present = people.find(amounts.seed, amounts.users)
    new_users = [number for number in range(amounts.users) if number not in present]
    known = _get_organization_numbers(amounts.seed)
    new_organizations = [number for number in range(amounts.organizations) if number not in known]
    new_logs = range(history.count_sign_ins(tenant, amounts.seed), amounts.logs)
    made = Result(tenant.slug, tenant.issuer, len(new_users), len(new_organizations), len(new_logs))
    if choices.dry_run:
        return made
    made.password = _choose_password(tenant, choices, is_new=not present)
    if new_users:
        # Without a known password these users cannot sign in until somebody resets it.
        encoded = passwords.hash_password(made.password) if made.password else ""
        made.users = people.create(tenant, amounts.seed, new_users, encoded)
    users = people.find(amounts.seed, amounts.users)
    for number in new_organizations:
        _create_organization(amounts.seed, number, users)
    made.more = catalogue.create(users)
    made.authenticator_key = second_factors.find_key(tenant.slug)
    second_factors.create(users, made.authenticator_key)
    subjects = history.new_subjects(tenant, amounts.seed, users, catalogue.get_applications())
    history.write(subjects, new_logs)
    if machine := catalogue.get_machine():
        history.write_machine_tokens(subjects, machine)
    second_factors.record_use(users)
    live_sessions.create(subjects)
    second_factors.create_browsers(users)
    made.locked = people.lock(tenant, users)
    daily.forget(tenant.id)  # the new entries can be of days that were already counted
    return _describe(made, tenant, amounts.seed, users)


def _choose_password(tenant: ActiveTenant, choices: Choices, *, is_new: bool) -> str | None:
    """Return the password of the made-up users, which is new in the first run and on request."""
    if not is_new and not choices.reset_password:
        return shared_secrets.read(tenant.slug)
    password = secrets.token_urlsafe(9)
    if not is_new:
        people.set_password(passwords.hash_password(password))
    shared_secrets.write(tenant.slug, password)
    return password


def _describe(made: Result, tenant: ActiveTenant, seed: int, users: Mapping[int, User]) -> Result:
    """Add to a result what the tenant has, and who can sign in."""
    made.present = {
        "users": people.of_demo().count(),
        "organizations": Organization.objects.count(),
        "sign-ins": history.count_sign_ins(tenant, seed),
        "tokens": history.count_tokens(tenant, seed),
    }
    made.suspended = [
        user.username for _, user in sorted(users.items()) if user.is_suspended and user.username
    ]
    made.example = str(users[0].username) if users else ""
    return made


def _get_organization_numbers(seed: int) -> set[int]:
    ours = Organization.objects.filter(metadata__made_by=SOURCE, metadata__seed=seed)
    return {int(number) for number in ours.values_list(KT("metadata__number"), flat=True)}


@transaction.atomic
def _create_organization(seed: int, number: int, users: Mapping[int, User]) -> None:
    mark = {"made_by": SOURCE, "seed": seed, "number": number}
    created_at = timezone.now() - timedelta(days=350 - 37 * (number % 9))
    row = Organization.objects.create(
        **made_up.organization(seed, number),
        metadata=mark,
        created_at=created_at,
        is_mfa_required=number % _STRICT == 1,
    )
    log.record(Event.ORGANIZATION_CREATE, id=row.pk, name=row.name)
    chosen = [users[n].pk for n in made_up.members(seed, number, len(users)) if n in users]
    Membership.objects.bulk_create(
        Membership(organization=row, user_id=pk, is_admin=position == 0) for position, pk in enumerate(chosen)
    )
    log.record_all(
        Event.ORGANIZATION_MEMBER_CREATE,
        ({"id": row.pk, "count": 1, "user_ids": [str(pk)], "about": pk} for pk in chosen),
    )
