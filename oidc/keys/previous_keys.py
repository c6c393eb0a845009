"""How many previous keys an algorithm of a tenant may have: all of them are in the key set."""

from typing import Final

from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError

_MAX_NUMBER: Final = 20


class TooMany(ServiceError):
    """The algorithm has as many previous keys as it may have."""

    reason = "too_many_keys"
    message = gettext_noop("the algorithm has 20 previous signing keys: delete old ones first")


def check_number(number: int) -> None:
    """Check that one more key of an algorithm can become a previous one, by the number of its previous keys.

    Raises:
        TooMany: the algorithm has 20 previous keys.

    """
    if number >= _MAX_NUMBER:
        raise TooMany
