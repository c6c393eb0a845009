"""Rotating and deleting signing keys."""

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.tenants.models import Tenant
from oidc.keys import signing
from oidc.keys.models import SigningKey


class KeyIsActive(ServiceError):
    """The key that signs new tokens cannot be deleted."""

    reason = "key_is_active"
    message = "the active signing key cannot be deleted: rotate first"


def provision() -> None:
    """Give a new tenant its first key."""
    signing.generate().save(force_insert=True)


@transaction.atomic
def rotate() -> SigningKey:
    """Retire the active key and return its successor.

    The retired key stays in the key set, for the tokens it signed are still valid.
    """
    # One rotation at a time: the second waits here, and then retires the first one's key.
    Tenant.objects.select_for_update().get(pk=tenancy.active_id())
    SigningKey.objects.active().update(status=SigningKey.Status.PREVIOUS, updated_at=timezone.now())
    key = signing.generate()
    key.save(force_insert=True)
    log.record(Event.SIGNING_KEY_ROTATE, kid=key.pk)
    return key


@transaction.atomic
def remove(key: SigningKey) -> None:
    """Forget a retired key: what it signed stops validating at once, on every worker.

    Raises:
        KeyIsActive: it is the one in use.

    """
    deleted, _ = SigningKey.objects.filter(pk=key.pk, status=SigningKey.Status.PREVIOUS).delete()
    if not deleted:
        raise KeyIsActive
    log.record(Event.SIGNING_KEY_DELETE, kid=key.pk)
