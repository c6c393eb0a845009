"""The limits of notices, which users can cause by changing their own accounts.

Senders count notices, so that requests need no statement for it and lock no counters of the tenant.
"""

from typing import Final

from identity.limits import rules
from identity.limits import services as limits
from identity.users.identifiers import Kind
from identity.users.notices import Notice
from interaction.connectors.messages import EMAIL, Message
from interaction.verification import recipients

_NOTICES: Final = frozenset(Notice)


def count(message: Message) -> None:
    """Count a message if it is a notice.

    Raises:
        limits.TooMany: the recipient got too many notices, or the tenant sent too many text messages.

    """
    if message.interaction_type not in _NOTICES:
        return
    if message.channel == EMAIL:
        # By kind, so that many harmless notices do not suppress one of a change.
        key = recipients.key_of(Kind.EMAIL, message.to)
        limits.hit((rules.EMAIL_NOTICES, f"{message.interaction_type} {key}"))
        return
    phone = recipients.key_of(Kind.PHONE, message.to)
    limits.hit(
        (rules.TEXT_NOTICES, recipients.limit_key_of(Kind.PHONE, phone)),
        (rules.TENANT_TEXT_NOTICES, ""),
        (rules.TENANT_TEXT_CODES, ""),
    )
