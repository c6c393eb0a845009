"""The check that an administrator's session has not ended while a change was verified."""

from django.utils.crypto import constant_time_compare

from identity.factors.errors import FactorError
from management.administrators.models import Administrator


class SessionEnded(FactorError):
    """The credentials or rights of the administrator have changed since the page was opened."""

    status = 403
    reason = "confirm_needed"
    message = "your session has ended meanwhile: sign in again"


def lock(administrator: Administrator) -> None:
    """Lock the administrator's row, and check that the session has not ended since the request began.

    Raises:
        SessionEnded: the administrator's credentials or rights have changed since.

    """
    compare(administrator, Administrator.objects.select_for_update().filter(pk=administrator.pk).first())


def compare(administrator: Administrator, current: Administrator | None) -> None:
    """Check that the session has not ended. ``current`` is the locked row, or None if it was deleted.

    Raises:
        SessionEnded: the administrator's credentials or rights have changed since the request began.

    """
    known = administrator.get_session_auth_hash()
    if current is None or not constant_time_compare(current.get_session_auth_hash(), known):
        raise SessionEnded
