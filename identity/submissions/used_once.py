"""Values that count once: the second use is refused, also if both arrive at the same moment."""

from datetime import datetime
from typing import Final

from django.db import IntegrityError

from database.statements import Insert
from identity.submissions.models import UsedOnce

_insert: Final = Insert(UsedOnce)


class UsedBefore(Exception):
    """The value was used before."""


def use(digest: str, *, expires_at: datetime) -> None:
    """Store the hash of a value. Call it in the transaction that does what the value allows.

    Raises:
        UsedBefore: it was stored before. The transaction must end.

    """
    try:
        _insert(UsedOnce(hash=digest, expires_at=expires_at))
    except IntegrityError:
        raise UsedBefore from None
