"""The encrypted answers of requests, the keyed hashes of these requests, and content that is shown once."""

from typing import Final

from identity.encryption.columns import EncryptedColumn
from identity.submissions import idempotency, shown_once
from identity.submissions.models import IdempotencyKey, ShownOnce

ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn(
        "idempotency_keys", IdempotencyKey.objects.all, "sealed_answer", idempotency.PURPOSE
    ),
    EncryptedColumn(
        "idempotency_fingerprints", IdempotencyKey.objects.all, "fingerprint",
        moves="never: the row is deleted after a day",
    ),
    EncryptedColumn(
        "shown_once", ShownOnce.objects.all, "sealed_content", shown_once.PURPOSE,
        bound_to=shown_once.bound_to,
    ),
]  # fmt: skip
