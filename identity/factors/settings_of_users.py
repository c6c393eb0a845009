"""Whether a user is asked for a second factor although no policy asks."""

from audit import log
from audit.events import Event
from identity.users.models import User


def set_two_step(user: User, *, is_on: bool) -> None:
    """Store whether the user is asked for a second factor. Call it in a transaction."""
    changed = User.objects.filter(pk=user.pk).exclude(two_step=is_on).update(two_step=is_on)
    user.two_step = is_on
    if changed:
        log.record(Event.MFA_SETTINGS_UPDATE, user_id=user.pk, id=user.pk, two_step=is_on)
