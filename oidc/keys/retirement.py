"""Retiring an algorithm: its key signs nothing any more, and verifies until it is deleted."""

from collections.abc import Callable, Iterator
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from audit import log
from audit.events import Event
from identity.core.algorithms import Algorithm
from identity.core.doctor_checks import join_names
from identity.core.errors import Invalid
from identity.resources.models import Resource
from oidc.keys import previous_keys, services
from oidc.keys.models import SigningKey

Uses = Callable[[str], Iterator[str]]
_FIELD: Final = "algorithm"


class CannotRetire(Invalid):
    """Tokens are signed with the algorithm, or every tenant has it."""

    reason = "algorithm_in_use"

    def __init__(self, rule: str) -> None:
        super().__init__(_FIELD, rule, code="conflict")


@transaction.atomic
def retire(algorithm: str) -> SigningKey:
    """Make the active key of an algorithm a previous one, without a successor, and return it.

    The key stays in the key set, because the tokens it signed are still valid. The next key of the algorithm,
    which has signed nothing, is deleted. If the algorithm is used again later, it gets a new key.

    Raises:
        CannotRetire: the algorithm is ES256 or the tenant's default, something names it, or it has no key.
        previous_keys.TooMany: the algorithm has 20 previous keys.

    """
    services.lock_keys()
    found = SigningKey.objects.filter(algorithm=algorithm).in_order()
    keys = list(found.defer("public_jwk", "sealed_private_key"))
    if not keys or keys[0].status != SigningKey.Status.ACTIVE:
        raise CannotRetire("has no active key: it was retired already, or never had one")
    key, next_keys = keys[0], [row for row in keys if row.status == SigningKey.Status.NEXT]
    _check_unused(key)
    previous_keys.check_number(len(keys) - 1 - len(next_keys))
    for next_key in next_keys:
        services.remove(next_key)
    key.status = SigningKey.Status.PREVIOUS
    key.retired_at = key.updated_at = timezone.now()
    key.save(update_fields=["status", "retired_at", "updated_at"])
    log.record(Event.SIGNING_KEY_RETIRE, kid=key.pk, algorithm=algorithm)
    return key


def _check_unused(key: SigningKey) -> None:
    """Check that no token would need the key.

    Raises:
        CannotRetire: one would.

    """
    if key.algorithm == Algorithm.ES256:
        raise CannotRetire("ES256 stays: every tenant has it, and discovery lists it")
    if key.is_default:
        raise CannotRetire("is the tenant's default: change default_signing_alg of the settings first")
    if uses := list(find_uses(key.algorithm)):
        raise CannotRetire(f"is still named by {join_names(uses)}")


def find_uses(algorithm: str) -> Iterator[str]:
    """Yield a text for each field of an API resource or application of the tenant that names an algorithm."""
    named = Resource.objects.filter(access_token_signing_alg=algorithm).order_by("name", "pk")
    for name in named.values_list("name", flat=True):
        yield f"access_token_signing_alg of the API resource “{name}”"
    of_applications: Uses = import_string(settings.SIGNING_ALGORITHM_USES)
    yield from of_applications(algorithm)
