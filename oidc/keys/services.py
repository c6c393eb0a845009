"""Preparing, rotating and deleting signing keys."""

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core import records, tenancy
from identity.core.algorithms import Algorithm
from identity.core.errors import ServiceError
from identity.tenants.models import Tenant
from oidc.keys import generation, previous_keys, signing
from oidc.keys.models import SigningKey


class KeyIsActive(ServiceError):
    """The key that signs new tokens cannot be deleted."""

    reason = "key_is_active"
    message = gettext_noop("the active signing key cannot be deleted: rotate first")


class JustRetired(ServiceError):
    """The algorithm was retired while the request that names it was handled."""

    status = 503
    reason = "algorithm_just_retired"
    message = "the algorithm was retired at the same moment: try again"


class NextKeyCannotBeDecrypted(ServiceError):
    """The private key of the next key cannot be decrypted with ENCRYPTION_KEYS."""

    reason = "key_does_not_open"
    message = gettext_noop(
        "ENCRYPTION_KEYS cannot decrypt the next signing key: delete it, or restore the old key"
    )


def provision() -> None:
    """Create the first key of a new tenant."""
    _activate(signing.generate(), is_default=True)


def get_default_algorithm() -> str:
    """Return the algorithm of tokens for which neither application nor API resource names another."""
    found = SigningKey.objects.default().values_list("algorithm", flat=True).first()
    return found or Algorithm.ES256.value


def prepare(algorithm: str = "") -> SigningKey:
    """Publish the key that the next rotation of an algorithm activates, and return it.

    There is at most one: a second call returns the same key. An empty algorithm means the default one.

    Raises:
        previous_keys.TooMany: there is no next key, and the algorithm has 20 previous keys.
        generation.GeneratingAnother: this worker is generating another RSA key.
        generation.UpgradeInProgress: a node of an older release serves, and the key would not be ES256.

    """
    algorithm = algorithm or get_default_algorithm()
    new = generation.generate_next(algorithm)
    return _prepare(algorithm, new) or prepare(algorithm)  # again, if the next key was deleted meanwhile


@transaction.atomic
def _prepare(algorithm: str, new: SigningKey | None) -> SigningKey | None:
    lock_keys()
    others = SigningKey.objects.filter(algorithm=algorithm).exclude(status=SigningKey.Status.ACTIVE)
    # The next key has the first place, if there is one.
    found = list(others.in_order().defer("public_jwk", "sealed_private_key"))
    if found and found[0].status == SigningKey.Status.NEXT:
        return found[0]
    if new is None:
        return None
    previous_keys.check_number(len(found))
    new.save(force_insert=True)
    log.record(Event.SIGNING_KEY_PREPARE, kid=new.pk, algorithm=algorithm)
    return new


def rotate(algorithm: str = "") -> SigningKey:
    """Retire the active key of an algorithm and return its successor: the next key, or else a new one.

    The retired key stays in the key set, because the tokens it signed are still valid. If the algorithm has
    no active key, its first one becomes active. An empty algorithm means the default one.

    Raises:
        previous_keys.TooMany: the algorithm has 20 previous keys.
        NextKeyCannotBeDecrypted: the private key of the next key cannot be decrypted.
        generation.GeneratingAnother: this worker is generating another RSA key.
        generation.UpgradeInProgress: a node of an older release serves, and the new key would not be ES256.

    """
    algorithm = algorithm or get_default_algorithm()
    new = generation.generate_next(algorithm)
    return _rotate(algorithm, new) or rotate(algorithm)  # again, if the next key was deleted meanwhile


@transaction.atomic
def _rotate(algorithm: str, new: SigningKey | None) -> SigningKey | None:
    """Rotate to the next key or, without one, to the new one. Return None if there is neither."""
    lock_keys()
    key = SigningKey.objects.next().filter(algorithm=algorithm).first() or new
    if key is None:
        return None
    if key is not new and not signing.can_decrypt(key):
        raise NextKeyCannotBeDecrypted
    counts = SigningKey.objects.aggregate(
        previous=Count("pk", filter=Q(algorithm=algorithm, status=SigningKey.Status.PREVIOUS)),
        other_defaults=Count(
            "pk", filter=Q(status=SigningKey.Status.ACTIVE, is_default=True) & ~Q(algorithm=algorithm)
        ),
    )
    previous_keys.check_number(counts["previous"])
    now = timezone.now()
    SigningKey.objects.active().filter(algorithm=algorithm).update(
        status=SigningKey.Status.PREVIOUS, retired_at=now, updated_at=now
    )
    _activate(key, is_default=not counts["other_defaults"])
    log.record(Event.SIGNING_KEY_ROTATE, kid=key.pk, algorithm=algorithm)
    return key


def ensure(algorithm: str) -> None:
    """Create the first key of an algorithm, active at once, unless the algorithm has an active key.

    Call it outside any transaction: an RSA key takes up to half a second.

    Raises:
        generation.GeneratingAnother: this worker is generating another RSA key.
        generation.UpgradeInProgress: a node of an older release serves, and the key would not be ES256.

    """
    if new := generate_missing(algorithm):
        with transaction.atomic():
            hold(algorithm, new)


def generate_missing(algorithm: str) -> SigningKey | None:
    """Return an unsaved first key of an algorithm for ``hold``; None if the algorithm has an active key.

    Call it before the transaction locks anything: an RSA key takes up to half a second.

    Raises:
        generation.GeneratingAnother: this worker is generating another RSA key.
        generation.UpgradeInProgress: a node of an older release serves, and the key would not be ES256.

    """
    return None if _has_active_key(algorithm) else generation.generate(algorithm)


def hold(algorithm: str, new: SigningKey | None = None) -> None:
    """Keep the active key of an algorithm from being retired until the transaction ends.

    If the algorithm has no active key, ``new`` becomes its first one. Call it in the transaction that stores
    the algorithm's name. The settings of OpenID Connect are locked before, and other rows after it.

    Raises:
        JustRetired: the algorithm has no active key any more, and there is no new one.

    """
    lock_keys()
    if _has_active_key(algorithm):
        return
    if new is None:
        raise JustRetired(headers={"Retry-After": "1"})
    _activate(new, is_default=not SigningKey.objects.default().exists())
    log.record(Event.SIGNING_KEY_ROTATE, kid=new.pk, algorithm=algorithm)


def _has_active_key(algorithm: str) -> bool:
    return SigningKey.objects.active().filter(algorithm=algorithm).exists()


@transaction.atomic
def make_default(algorithm: str, new: SigningKey | None = None) -> None:
    """Make the active key of an algorithm the tenant's default: ``new`` if it has none.

    Raises:
        JustRetired: the algorithm has no active key any more, and there is no new one.

    """
    hold(algorithm, new)
    SigningKey.objects.default().exclude(algorithm=algorithm).update(is_default=False)
    SigningKey.objects.active().filter(algorithm=algorithm).update(is_default=True)


@transaction.atomic
def remove(key: SigningKey) -> None:
    """Delete a key that is not active. Every worker refuses the tokens it signed at once.

    Raises:
        KeyIsActive: the key is active.
        records.Gone: another request has deleted the key.

    """
    lock_keys()
    status = SigningKey.objects.filter(pk=key.pk).values_list("status", flat=True).first()
    if status is None:
        raise records.Gone
    if status == SigningKey.Status.ACTIVE:
        raise KeyIsActive
    SigningKey.objects.filter(pk=key.pk).delete()
    log.record(Event.SIGNING_KEY_DELETE, kid=key.pk)


def lock_keys() -> None:
    """Lock the tenant's keys against other changes until the transaction ends.

    A token request waits for a rotation only if it has to record the usage of the key (see ``usage``).
    """
    records.lock(Tenant(pk=tenancy.active_id()), expected=None)


def _activate(key: SigningKey, *, is_default: bool) -> None:
    key.status = SigningKey.Status.ACTIVE
    key.is_default = is_default
    key.activated_at = key.updated_at = timezone.now()
    key.save()
