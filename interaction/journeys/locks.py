"""The locks of an identifier after wrong passwords."""

from identity.limits import services as limits
from identity.sessions.known_users import KnownUsers
from identity.users import credentials, sign_in_locks
from identity.users.identifiers import Kind
from identity.users.models import User


class Locked(credentials.InvalidCredentials):
    """Too many attempts failed before. The message is the same for every identifier and password."""

    reason = "locked"

    def __init__(self, seconds: int) -> None:
        self.audit_facts = limits.get_lock_facts(seconds)
        super().__init__(headers={"Retry-After": str(seconds)})


def check_shared_lock(kind: Kind, key: str) -> None:
    """Check the lock that is shared by all browsers from which the user has not signed in before.

    A browser with a device id has a lock of its own, unless the id is outdated or of another user.

    Raises:
        Locked: too many attempts failed before.

    """
    group = sign_in_locks.get_group(kind, key)
    with limits.login_attempt(
        sign_in_locks.get_shared_lock(group),
        failure=credentials.InvalidCredentials,
        locked=Locked,
        group=group,
    ) as attempt:
        attempt.cancel()


def count_failure_of_unknown_device(kind: Kind, key: str, known: KnownUsers, device: str) -> None:
    """Count a failed sign-in on the shared lock if the device id is outdated or of another user.

    Raises:
        Locked: too many attempts failed before.

    """
    user = User.objects.find_by_key(kind, key).first()
    if user is None or not known.is_current(device, user):
        group = sign_in_locks.get_group(kind, key)
        limits.hit(sign_in_locks.get_shared_lock(group), refusal=Locked, group=group)
