"""The rule of the tenant by which browsers are remembered, from ``settings.TRUSTED_DEVICES``."""

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from identity.factors import browsers
from identity.factors.browsers import TrustedDevices


def still_counts(user_id: UUID, signed_in_at: datetime) -> bool:
    """Return whether a sign-in without the second factor still counts, by the tenant's rule of now.

    It is not stored in which browser a user signed in. The sign-in counts as long as any browser of the
    user that was remembered at the sign-in still is.
    """
    rule: TrustedDevices | None = import_string(settings.TRUSTED_DEVICES)()
    return browsers.was_remembered(user_id, rule, at=signed_in_at)
