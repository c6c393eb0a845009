"""The made-up users of a tenant, and the one who is locked."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.fields.json import KT
from django.utils import timezone

from audit import log
from audit.events import Event
from audit.models import Entry
from identity.core.tenancy import ActiveTenant
from identity.limits import rules
from identity.limits import services as limits
from identity.users import importing, sign_in_locks, typed_identifiers
from identity.users.identifiers import Kind
from identity.users.models import User
from management.seeding.demo_data import made_up

SOURCE: Final = "seed_demo"
_BATCH: Final = 500
_ADDRESS: Final = "198.51.100.7"  # RFC 5737
_MAX_FAILURES: Final = 1_000  # with more, locks are practically off
_BETWEEN_FAILURES: Final = timedelta(minutes=4)


class _WrongPasswordError(Exception):
    pass


def of_demo() -> QuerySet[User]:
    """Return the made-up users of the active tenant."""
    return User.objects.filter(custom_data__imported__from=SOURCE)


def find(seed: int, people: int) -> dict[int, User]:
    """Return the made-up users of a seed by their numbers, if these are below a number."""
    rows = of_demo().annotate(demo_id=KT("custom_data__imported__id"))
    found: dict[int, User] = {}
    for user in rows.iterator():
        of_seed, _, number = str(user.demo_id).partition(":")
        if int(of_seed) == seed and int(number) < people:
            found[int(number)] = user
    return found


def create(tenant: ActiveTenant, seed: int, numbers: list[int], encoded: str) -> int:
    """Create users, each with the entry of its time in the audit log, and return how many."""
    created, remaining = 0, iter(numbers)
    while batch := list(islice(remaining, _BATCH)):
        created += _create(tenant, [_new_user(seed, number, encoded) for number in batch])
    return created


def _new_user(seed: int, number: int, encoded: str) -> User:
    fields = made_up.person(seed, number)
    return importing.new_imported_user(fields, source=SOURCE, foreign_id=f"{seed}:{number}", encoded=encoded)


@transaction.atomic
def _create(tenant: ActiveTenant, new_users: list[User]) -> int:
    users, _refused = importing.split_conflicts(new_users)
    User.objects.bulk_create(users)
    Entry.objects.bulk_create(
        Entry(
            tenant_id=tenant.id,
            key=Event.USER_CREATE.value,
            payload={"id": str(user.pk), "username": user.username, "imported_from": SOURCE},
            created_at=user.created_at,
        )
        for user in users
    )
    return len(users)


@transaction.atomic
def set_password(encoded: str) -> int:
    """Set one password for all made-up users of the active tenant, and return their number."""
    changed = of_demo().update(password=encoded)
    log.record(Event.USER_UPDATE, fields=["password"], count=changed, imported_from=SOURCE)
    return changed


def lock(tenant: ActiveTenant, people: Mapping[int, User]) -> str:
    """Lock one user by failed sign-ins unless this user is locked, and return the username."""
    user = people.get(made_up.LOCKED)
    if user is None or rules.PAIR.failures > _MAX_FAILURES:
        return ""
    if sign_in_locks.get_locks(user):
        return user.username
    group = sign_in_locks.get_group(Kind.USERNAME, str(user.username_key))
    pair = sign_in_locks.get_network_lock(group, limits.network_of(_ADDRESS))
    # The more failures, the longer the lock: the last one locks for an hour.
    failures = rules.PAIR.failures + len(rules.LOCK_SECONDS) - 1
    for _ in range(failures - 1):
        limits.increment(*pair)
    with suppress(_WrongPasswordError), limits.login_attempt(pair, failure=_WrongPasswordError, group=group):
        raise _WrongPasswordError
    identifier = typed_identifiers.build(user.username, is_known=True)
    errors = ["invalid_credentials"] * failures + ["locked"]
    Entry.objects.bulk_create(
        Entry(
            tenant_id=tenant.id,
            key=Event.SIGN_IN_PASSWORD.value,
            payload={"result": "failed", "error": error, "demo": True} | identifier.facts(),
            identifier_key=identifier.key,
            ip=_ADDRESS,
            user_agent=SOURCE,
            created_at=timezone.now() - _BETWEEN_FAILURES * (len(errors) - position),
        )
        for position, error in enumerate(errors)
    )
    return user.username
