"""The factors of a user, for lists, and their removal."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.factors import forgetting, remembered_grants
from identity.factors.kinds import FactorType
from identity.factors.models import Authenticator, BackupCode, KnownBrowser, Passkey, RecoveryGrant
from identity.users import row_locks, sign_out
from identity.users.factor_bits import BACKUP_CODE
from identity.users.models import User
from identity.users.notices import Notice, notify


@dataclass(frozen=True, slots=True)
class StoredFactor:
    """A factor that a user has set up. All backup codes are one, with the ``id`` of the first."""

    id: UUID
    type: FactorType
    name: str
    created_at: datetime
    last_used_at: datetime | None
    remaining: int | None = None
    passkey: Passkey | None = None


class NoSuchFactor(ServiceError):
    """The user has no factor with this id."""

    status = 404
    reason = "factor_not_found"
    message = "factor not found"


def get_factors(user: User) -> list[StoredFactor]:
    """Return the factors of a user, oldest first of each kind. If there are none, no query runs."""
    if not user.factors:
        return []
    passkeys = [
        StoredFactor(row.pk, FactorType.WEBAUTHN, row.name, row.created_at, row.last_used_at, passkey=row)
        for row in Passkey.objects.filter(user=user).order_by("created_at", "pk")
    ]
    apps = [
        StoredFactor(row.pk, FactorType.TOTP, row.name, row.created_at, row.last_used_at)
        for row in Authenticator.objects.filter(user=user).order_by("created_at", "pk")
    ]
    return [*passkeys, *apps, *_get_backup_codes(user)]


def _get_backup_codes(user: User) -> list[StoredFactor]:
    codes = BackupCode.objects.filter(user=user).order_by("pk")
    first = codes.first()
    if first is None or not user.factors & BACKUP_CODE:
        return []
    remaining = codes.filter(used_at=None).count()
    used = codes.aggregate(last=Max("used_at"))["last"]
    return [StoredFactor(first.pk, FactorType.BACKUP_CODE, "", first.created_at, used, remaining)]


def find_named(user: User, factor_id: UUID) -> StoredFactor:
    """Return a factor of a user that has a name: a passkey or an authenticator.

    Raises:
        NoSuchFactor: the user has no such factor with this id.

    """
    for factor in get_factors(user):
        if factor.id == factor_id and factor.type is not FactorType.BACKUP_CODE:
            return factor
    raise NoSuchFactor


@transaction.atomic
def rename(user: User, factor_id: UUID, name: str) -> None:
    """Rename a passkey or an authenticator of a user. An empty name removes the name.

    Raises:
        NoSuchFactor: the user has no such factor with this id.

    """
    found = find_named(user, factor_id)
    model = Passkey if found.type is FactorType.WEBAUTHN else Authenticator
    others = model.objects.filter(pk=factor_id, user=user).exclude(name=name)
    if others.update(name=name):
        log.record(Event.MFA_RENAME, user_id=user.pk, id=factor_id, type=found.type.value, name=name)


@transaction.atomic
def remove(user: User, factor_id: UUID) -> FactorType:
    """Remove one factor of a user. If only backup codes remain, remove them too: they are no factor alone.

    A passkey is a way to sign in, so the user is signed out everywhere: what began with it ends. Sessions do
    not store how they began.

    Raises:
        NoSuchFactor: the user has no factor with this id.

    """
    row_locks.lock(user)
    removed = _remove(user, factor_id)
    if removed is FactorType.WEBAUTHN:
        sign_out.sign_out(user)
    return removed


def remove_passkeys(user: User) -> None:
    """Remove all passkeys of a user whose row is locked and whose sessions end."""
    for pk in Passkey.objects.filter(user=user).values_list("pk", flat=True):
        _remove(user, pk)


def _remove(user: User, factor_id: UUID) -> FactorType:
    user.refresh_from_db(fields=("factors",))
    found = next((factor for factor in get_factors(user) if factor.id == factor_id), None)
    if found is None:
        raise NoSuchFactor
    if found.type is FactorType.BACKUP_CODE:
        BackupCode.objects.filter(user=user).delete()
    else:
        model = Passkey if found.type is FactorType.WEBAUTHN else Authenticator
        model.objects.filter(pk=factor_id, user=user).delete()
    user.refresh_from_db(fields=("factors",))
    if user.factors == BACKUP_CODE:
        BackupCode.objects.filter(user=user).delete()
        user.factors = 0
    forgetting.end_remembered(user)
    log.record(Event.MFA_DELETE, user_id=user.pk, id=found.id, type=found.type.value, name=found.name)
    notify(user, Notice.FACTOR_REMOVED)
    return found.type


def clear(user: User) -> None:
    """Delete all factors of a user whose row is locked, and end what remembered browsers were granted."""
    for model in (Passkey, Authenticator, BackupCode, KnownBrowser):
        model.objects.filter(user=user).delete()
    remembered_grants.end(user)


@transaction.atomic
def reset(user: User) -> None:
    """Remove all factors of a user, for an administrator. Sessions, codes and refresh families end."""
    row_locks.lock(user)
    clear(user)
    RecoveryGrant.objects.filter(user=user).delete()
    User.objects.filter(pk=user.pk).update(
        two_step=False, factor_skipped_at=None, epoch=F("epoch") + 1, version=F("version") + 1
    )
    log.record(Event.MFA_RESET, user_id=user.pk, id=user.pk)
    notify(user, Notice.FACTORS_RESET)
    user.refresh_from_db()
