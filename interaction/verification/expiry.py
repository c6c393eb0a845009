"""Expired codes, and messages that were not sent within a day."""

from collections.abc import Sequence
from typing import Final

from django.db.models import QuerySet

from audit import log
from audit.events import Event
from database.clock import seconds_ahead
from identity.core import tenancy
from identity.core.expiry import Expiring
from interaction.verification.models import RESET_SECONDS, OutgoingMessage, Purpose, VerificationCode

_KEPT_SECONDS: Final = 3600
# A message is this old only if no server that sends messages ran. Its code has expired long before.
_UNSENT_SECONDS: Final = 24 * 3600


def _codes() -> QuerySet[VerificationCode]:
    expired = VerificationCode.objects.filter(expires_at__lt=seconds_ahead(-_KEPT_SECONDS))
    # See ``resets``.
    return expired.exclude(purpose=Purpose.FORGOT_PASSWORD, spent_at__gt=seconds_ahead(-RESET_SECONDS))


def _unsent_messages() -> QuerySet[OutgoingMessage]:
    unsent = OutgoingMessage.objects.filter(due_at__lt=seconds_ahead(-_UNSENT_SECONDS))
    return unsent.select_related("tenant")


def _record_unsent(messages: Sequence[OutgoingMessage]) -> None:
    for message in messages:
        if not message.silent:
            with tenancy.using(message.tenant.to_active()):
                log.record(
                    Event.CODE_SEND,
                    message_id=message.pk,
                    result="failed",
                    error="not_delivered",
                    reason="no server that sends messages ran for a day",
                )


EXPIRING: Final = [
    Expiring("verification_codes", _codes),
    Expiring("outgoing_messages", _unsent_messages, _record_unsent),
]
