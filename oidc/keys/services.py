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


class NextKeyCannotBeDecrypted(ServiceError):
    """The private key of the next key cannot be decrypted with ENCRYPTION_KEYS."""

    reason = "key_does_not_open"
    message = "ENCRYPTION_KEYS cannot decrypt the next signing key: delete it, or restore the old key"


def provision() -> None:
    """Create the first key of a new tenant."""
    _activate(signing.generate())


@transaction.atomic
def prepare() -> SigningKey:
    """Publish the key that the next rotation activates, and return it.

    There is at most one: a second call returns the same key.
    """
    _lock_keys()
    prepared = SigningKey.objects.next().first()
    if prepared is not None:
        return prepared
    key = signing.generate()
    key.save(force_insert=True)
    log.record(Event.SIGNING_KEY_PREPARE, kid=key.pk)
    return key


@transaction.atomic
def rotate() -> SigningKey:
    """Retire the active key and return its successor: the next key if there is one, else a new one.

    The retired key stays in the key set, because the tokens it signed are still valid.

    Raises:
        NextKeyCannotBeDecrypted: the private key of the next key cannot be decrypted.

    """
    _lock_keys()
    key = SigningKey.objects.next().first()
    if key is None:
        key = signing.generate()
    elif not signing.can_decrypt(key):
        raise NextKeyCannotBeDecrypted
    now = timezone.now()
    SigningKey.objects.active().update(status=SigningKey.Status.PREVIOUS, retired_at=now, updated_at=now)
    _activate(key)
    log.record(Event.SIGNING_KEY_ROTATE, kid=key.pk)
    return key


@transaction.atomic
def remove(key: SigningKey) -> None:
    """Delete a key that is not active. Every worker refuses the tokens it signed at once.

    Raises:
        KeyIsActive: the key is active.
        records.Gone: another request has deleted the key.

    """
    _lock_keys()
    status = SigningKey.objects.filter(pk=key.pk).values_list("status", flat=True).first()
    if status is None:
        raise records.Gone
    if status == SigningKey.Status.ACTIVE:
        raise KeyIsActive
    SigningKey.objects.filter(pk=key.pk).delete()
    log.record(Event.SIGNING_KEY_DELETE, kid=key.pk)


def _lock_keys() -> None:
    """Lock the tenant's keys against other changes until the transaction ends.

    A token request waits for a rotation only if it has to record the usage of the key (see ``usage``).
    """
    records.lock(Tenant(pk=tenancy.active_id()), expected=None)


def _activate(key: SigningKey) -> None:
    key.status = SigningKey.Status.ACTIVE
    key.activated_at = key.updated_at = timezone.now()
    key.save()
