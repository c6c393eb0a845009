"""Values that can be used once: the second use is refused, even if both uses are concurrent."""

from datetime import datetime
from typing import Final

from database import chains
from database.chains import Chain
from database.statements import Insert
from identity.submissions.models import UsedOnce

_insert: Final = Insert(UsedOnce)


def use(digest: str, *, expires_at: datetime, refusal: Exception, chain: Chain | None = None) -> None:
    """Store the hash of a value, in the transaction or the chain that does what the value allows.

    Raises:
        Exception: ``refusal``; the value was used before. The transaction must end.

    """
    with chains.joined(chain) as writes:
        writes.insert(_insert, UsedOnce(hash=digest, expires_at=expires_at), refusal=lambda: refusal)
