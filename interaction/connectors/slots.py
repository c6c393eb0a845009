"""Slots for requests that wait for providers, which may be slow to answer."""

from typing import Final

from django.conf import settings
from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from identity.core.slots import Slots


class Busy(ServiceError):
    """Too many requests are waiting for providers."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("Wait a few seconds and try again.")


# Sign-in providers of users and of administrators, and CAPTCHAs, that are slow to respond block at most half
# of the threads together.
PROVIDERS: Final = Slots(settings.THREADS // 2)
