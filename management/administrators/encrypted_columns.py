"""The encrypted columns of administrators: secrets of authenticators, and recovery codes."""

from typing import Final

from django.db.models import QuerySet

from identity.encryption.columns import EncryptedColumn
from management.administrators import second_step
from management.administrators.models import Administrator, RecoveryCode


def _with_second_step() -> QuerySet[Administrator]:
    return Administrator.objects.filter(second_step_since__isnull=False)


ENCRYPTED_COLUMNS: Final = [
    EncryptedColumn(
        "second_steps",
        _with_second_step,
        "sealed_totp_secret",
        second_step.PURPOSE,
        bound_to=second_step.binding,
    ),
    EncryptedColumn(
        "recovery_codes",
        RecoveryCode.objects.all,
        "digest",
        moves="when their administrator creates new ones",
    ),
]
