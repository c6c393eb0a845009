"""Which former emails expire."""

from typing import Final

from django.db.models import QuerySet

from database.clock import seconds_ahead
from identity.core.expiry import Expiring
from identity.users import former_emails
from identity.users.models import FormerEmail


def _former_emails() -> QuerySet[FormerEmail]:
    return FormerEmail.objects.filter(replaced_at__lt=seconds_ahead(-former_emails.SECONDS))


EXPIRING: Final = [Expiring("former_emails", _former_emails)]
