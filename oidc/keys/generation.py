"""Generating signing keys: only those that will be stored, and one RSA key at a time."""

from threading import Lock
from typing import Final

from django.conf import settings
from django.db.models import Count, Q
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from identity.core.algorithms import Algorithm
from identity.core.errors import ServiceError
from oidc.keys import previous_keys, signing
from oidc.keys.models import SigningKey

# The migration of the first release whose nodes know other algorithms than ES256.
_ALGORITHMS: Final = "keys.0003_algorithms"
_RSA: Final = {Algorithm.RS256.value, Algorithm.PS256.value}
_rsa: Final = Lock()  # held while this process generates an RSA key


class UpgradeInProgress(ServiceError):
    """A node of an older release serves, which knows no algorithm but ES256."""

    status = 503
    reason = "upgrade_in_progress"
    message = gettext_noop(
        "a node of an older release still serves: replace it, wait three minutes and try again"
    )


class GeneratingAnother(ServiceError):
    """This worker is generating another RSA key, which takes a processor for up to half a second."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("Wait a few seconds and try again.")


def generate_next(algorithm: str) -> SigningKey | None:
    """Return an unsaved key for the next rotation of an algorithm; None if there is a next key.

    The caller checks both again under the lock.

    Raises:
        previous_keys.TooMany: there is no next key, and the algorithm has 20 previous keys.
        GeneratingAnother: this worker is generating another RSA key.
        UpgradeInProgress: a node of an older release serves, and the key would not be ES256.

    """
    keys = SigningKey.objects.filter(algorithm=algorithm)
    counts = keys.aggregate(
        next=Count("pk", filter=Q(status=SigningKey.Status.NEXT)),
        previous=Count("pk", filter=Q(status=SigningKey.Status.PREVIOUS)),
    )
    if counts["next"]:
        return None
    previous_keys.check_number(counts["previous"])
    return generate(algorithm)


def generate(algorithm: str) -> SigningKey:
    """Return an unsaved key: for ES256 alone while a node of 0.1.3 serves, because it knows nothing else.

    Raises:
        GeneratingAnother: this worker is generating another RSA key.
        UpgradeInProgress: a node of an older release serves.

    """
    if algorithm != Algorithm.ES256 and not import_string(settings.ALL_NODES_KNOW)(_ALGORITHMS):
        raise UpgradeInProgress(headers={"Retry-After": "180"})
    if algorithm not in _RSA:
        return signing.generate(algorithm)
    if not _rsa.acquire(blocking=False):
        raise GeneratingAnother(headers={"Retry-After": "2"})
    try:
        return signing.generate(algorithm)
    finally:
        _rsa.release()
