"""Doing a request once, however often it is sent: the same key leads to the same answer.

The row of a key is written in the transaction of the change. So there is no change without its answer and no
answer without its change, and a concurrent request with the same key waits for the first.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import orjson
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.exceptions import ValidationError

from identity.core.errors import ServiceError
from identity.encryption import keyring
from identity.submissions.models import IdempotencyKey

PURPOSE: Final = "answers of requests"
FINGERPRINT_PURPOSE: Final = "fingerprints of requests"
_KEPT: Final = timedelta(hours=24)

Answer = Mapping[str, Any]


class KeyReused(ServiceError):
    """The caller used the key for another request."""

    status = 422
    reason = "idempotency_key_reused"
    message = "the idempotency key was used for another request"


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request with its key, which is empty if the request may be done any number of times.

    ``content`` is everything in which another request differs: method, path and body.
    """

    caller: str
    key: str
    content: bytes


def run_once(sent: SentRequest, work: Callable[[], Answer]) -> Answer:
    """Return the stored answer of an earlier request with the same key, or do the work and store its answer.

    The work runs in a transaction, so it must not call other servers. If the work is refused, the key can be
    used again.

    Raises:
        KeyReused: the key was used for another request.
        ServiceError, ValidationError: the work was refused.

    """
    if not sent.key:
        return work()
    with transaction.atomic():
        row = _claim(sent)
        if row.sealed_answer:
            return _read(row, sent)
        try:
            answer = work()
        except (ServiceError, ValidationError) as error:
            refusal = error
            row.delete()
        else:
            text = orjson.dumps(answer)
            row.sealed_answer = keyring.encrypt(text, purpose=PURPOSE, bound_to=_bound_to(row))
            row.save(update_fields=["sealed_answer"])
            return answer
    # Outside the transaction, which must not be undone: it has counted and logged the attempt.
    raise refusal


def find_answer(sent: SentRequest) -> Answer | None:
    """Return the stored answer of an earlier request with the same key.

    Raises:
        KeyReused: the key was used for another request.

    """
    row = _find(sent) if sent.key else None
    return None if row is None or row.expires_at <= timezone.now() else _read(row, sent)


def _claim(sent: SentRequest) -> IdempotencyKey:
    """Insert the row of a key, or return the one that an earlier request has inserted.

    The insertion waits for a concurrent transaction that has inserted the same key.
    """
    while True:
        row = IdempotencyKey(
            caller=sent.caller,
            key_hash=_hash_key(sent.key),
            fingerprint=keyring.digest(_hash_content(sent), purpose=FINGERPRINT_PURPOSE),
            expires_at=timezone.now() + _KEPT,
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            found = _find(sent)
            if found is not None and found.expires_at > timezone.now():
                return found
            if found is not None:
                found.delete()
        else:
            return row


def _find(sent: SentRequest) -> IdempotencyKey | None:
    return IdempotencyKey.objects.filter(caller=sent.caller, key_hash=_hash_key(sent.key)).first()


def _read(row: IdempotencyKey, sent: SentRequest) -> Answer:
    if not keyring.matches(_hash_content(sent), row.fingerprint, purpose=FINGERPRINT_PURPOSE):
        raise KeyReused
    try:
        answer = keyring.decrypt(row.sealed_answer, purpose=PURPOSE, bound_to=_bound_to(row))
    except keyring.UnknownKey:  # the request was done, and cannot be answered
        raise KeyReused from None
    return orjson.loads(answer)  # type: ignore[no-any-return]


def _hash_key(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _hash_content(sent: SentRequest) -> str:
    return hashlib.sha256(sent.content).hexdigest()


def _bound_to(row: IdempotencyKey) -> str:
    return f"{row.tenant_id}/{row.pk}"
