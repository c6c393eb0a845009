"""Preparing, rotating and deleting signing keys."""

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core import records, tenancy
from identity.core.errors import ServiceError
from identity.tenants.models import Tenant
from oidc.keys import signing
from oidc.keys.models import SigningKey


class KeyIsActive(ServiceError):
    """The key that signs new tokens cannot be deleted."""

    reason = "key_is_active"
    message = "the active signing key cannot be deleted: rotate first"


class KeyDoesNotOpen(ServiceError):
    """The key whose turn it is cannot sign: its private half is sealed with a key that is not there."""

    reason = "key_does_not_open"
    message = "the next signing key does not open with ENCRYPTION_KEYS: delete it, or bring the old ring back"


def provision() -> None:
    """Give a new tenant its first key."""
    _activate(signing.generate())


@transaction.atomic
def prepare() -> SigningKey:
    """Return the key that the next rotation will make active, published from now on.

    There is one at most: who asks again is shown the one that waits.
    """
    _one_at_a_time()
    waiting = SigningKey.objects.next().first()
    if waiting is not None:
        return waiting
    key = signing.generate()
    key.save(force_insert=True)
    log.record(Event.SIGNING_KEY_PREPARE, kid=key.pk)
    return key


@transaction.atomic
def rotate() -> SigningKey:
    """Retire the active key and return its successor: the one prepared, else a new one.

    The retired key stays in the key set, for the tokens it signed are still valid.

    Raises:
        KeyDoesNotOpen: no token could be signed with the one prepared.

    """
    _one_at_a_time()
    key = SigningKey.objects.next().first()
    if key is None:
        key = signing.generate()
    elif not signing.opens(key):
        raise KeyDoesNotOpen
    now = timezone.now()
    SigningKey.objects.active().update(status=SigningKey.Status.PREVIOUS, retired_at=now, updated_at=now)
    _activate(key)
    log.record(Event.SIGNING_KEY_ROTATE, kid=key.pk)
    return key


@transaction.atomic
def remove(key: SigningKey) -> None:
    """Forget a key that is not in use: what it signed stops validating at once, on every worker.

    Raises:
        KeyIsActive: it is the one in use.
        records.Gone: somebody else was faster.

    """
    _one_at_a_time()
    status = SigningKey.objects.filter(pk=key.pk).values_list("status", flat=True).first()
    if status is None:
        raise records.Gone
    if status == SigningKey.Status.ACTIVE:
        raise KeyIsActive
    SigningKey.objects.filter(pk=key.pk).delete()
    log.record(Event.SIGNING_KEY_DELETE, kid=key.pk)


def _one_at_a_time() -> None:
    """Let whoever else changes the tenant's keys wait until the transaction ends. Tokens go on."""
    records.hold(Tenant(pk=tenancy.active_id()), expected=None)


def _activate(key: SigningKey) -> None:
    key.status = SigningKey.Status.ACTIVE
    key.activated_at = key.updated_at = timezone.now()
    key.save()
