"""Forgetting what is over: a worker does it now and then, so that no request has to."""

from typing import Final

from audit.clock import seconds_ahead
from identity.core import tenancy
from identity.limits import services as limits
from interaction.verification.models import VerificationCode

_KEPT_SECONDS: Final = 3600


def forget_old() -> None:
    """Delete, of all tenants, codes that prove nothing any more, and counters that count for nothing."""
    with tenancy.using(tenancy.EVERYWHERE):
        VerificationCode.objects.filter(expires_at__lt=seconds_ahead(-_KEPT_SECONDS)).delete()
        limits.forget_old()
