"""What the second step of administrators hangs on: secrets of authenticators, and recovery codes."""

from typing import Final

from django.db.models import QuerySet

from identity.core.sealed import Sealed
from management.administrators import second_step
from management.administrators.models import Administrator, RecoveryCode


def _with_second_step() -> QuerySet[Administrator]:
    return Administrator.objects.filter(second_step_since__isnull=False)


SEALED: Final = [
    Sealed(
        "second_steps",
        _with_second_step,
        "sealed_totp_secret",
        second_step.PURPOSE,
        bound_to=second_step.binding,
    ),
    Sealed(
        "recovery_codes",
        RecoveryCode.objects.all,
        "digest",
        moves="when their administrator makes new ones",
    ),
]
