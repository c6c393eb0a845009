"""The locks of users after failed sign-ins: by identifier, and of the confirmation on the account page."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.rules import ActiveLock, Hit, Lock
from identity.users.identifiers import Kind
from identity.users.models import User


class LocksRemain(ServiceError):
    """The locks cannot be ended, because Redis does not answer."""

    status = 503
    reason = "locks_remain"
    message = gettext_noop("Redis does not answer, so the locks stay: try again later")


def get_group(kind: Kind, key: str) -> str:
    """Return the group of the locks of an identifier, whether or not a user has it."""
    return f"{kind} {key}"


def get_confirmation_group(user_id: UUID) -> str:
    """Return the group of the locks of a signed-in user who has to confirm the password."""
    return f"confirm {user_id}"


def get_second_factor_group(user_id: UUID) -> str:
    """Return the group of the lock of a user's second factors."""
    return f"second factor {user_id}"


def get_network_lock(group: str, network: str) -> tuple[Lock, str]:
    """Return the lock of a group for one network, and its key."""
    return rules.PAIR, f"{group} {network}"


def get_browser_lock(group: str, device: str) -> tuple[Lock, str]:
    """Return the lock of a group for a browser from which the user has signed in before, and its key."""
    return rules.KNOWN_BROWSER, f"{group} {device}"


def get_shared_lock(group: str) -> tuple[Lock, str]:
    """Return the lock of a group for all networks and unknown browsers, and its key."""
    return rules.IDENTIFIER, group


def get_locks(user: User) -> list[ActiveLock]:
    """Return the active locks of a user's identifiers, the longest first."""
    return limits.get_locks(_identifier_groups(user))


def is_locked(user: User) -> bool:
    """Return whether ``end`` would end a lock of a user."""
    others = (get_confirmation_group(user.pk), get_second_factor_group(user.pk))
    return bool(limits.get_locks([*_identifier_groups(user), *others]))


def are_second_factors_locked(user: User) -> bool:
    """Return whether the codes of a user's second factors are locked."""
    return bool(limits.get_locks([get_second_factor_group(user.pk)]))


def find_locked(users: Sequence[User]) -> set[UUID]:
    """Return the ids of those users who have a locked identifier.

    One read is enough if nobody is locked. Otherwise each half of the users is read again.
    """
    if not users or not limits.get_locks([group for user in users for group in _identifier_groups(user)]):
        return set()
    if len(users) == 1:
        return {users[0].pk}
    half = len(users) // 2
    return find_locked(users[:half]) | find_locked(users[half:])


def get_networks_by_key_hash(user: User, ips: Iterable[str]) -> dict[str, str]:
    """Return the locked network for the hash of each lock's key, as far as the keys can be computed.

    The network is empty for the lock of all networks. Missing are the locks of browsers, and of networks
    that have none of ``ips``.
    """
    networks = {limits.network_of(ip) for ip in ips}
    found = {}
    for group in _identifier_groups(user):
        found[Hit(*get_shared_lock(group)).key_hash] = ""
        found |= {Hit(*get_network_lock(group, network)).key_hash: network for network in networks}
    return found


def clear(user: User) -> bool:
    """End the locks of a user, and forget the failures. Call it in the transaction of the change.

    The lock of second factors stays: a new password proves no second factor. If Redis does not answer, its
    locks stay, and the result is false.
    """
    return limits.clear_locks([*_identifier_groups(user), get_confirmation_group(user.pk)])


@transaction.atomic
def end(user: User, *, of_second_factors: bool = True) -> None:
    """End the locks of a user, and forget the failures, for an administrator or an application.

    The lock of second factors stays unless ``of_second_factors`` is true.

    Raises:
        LocksRemain: Redis does not answer.

    """
    if not clear(user):
        raise LocksRemain
    if of_second_factors and not limits.clear_locks([get_second_factor_group(user.pk)]):
        raise LocksRemain
    log.record(Event.USER_UNLOCK, id=user.pk)


def _identifier_groups(user: User) -> list[str]:
    return [get_group(kind, key) for kind, key in user.get_identifier_keys().items()]
