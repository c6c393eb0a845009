"""The limits of codes: to one identifier, and of the text messages of a tenant.

Strangers can ask for codes to any identifier. So what they use up is counted apart from the codes of known
browsers and of second steps.
"""

from collections.abc import Callable

from identity.limits import rules
from identity.limits import services as limits
from identity.limits.rules import Limit
from identity.users.identifiers import Kind
from interaction.verification import recipients
from interaction.verification.models import Purpose, VerificationCode


def count(row: VerificationCode, device: str, *, refusal: Callable[[int], Exception]) -> None:
    """Count a code that is about to be sent.

    ``device`` is the browser's device id if the user signed in there before, else empty.

    Raises:
        Exception: what ``refusal`` returns for the seconds to wait: too many codes to the identifier.
        limits.TooMany: the tenant sent too many text messages.

    """
    recipient = f"{row.kind} {recipients.limit_key_of(Kind(row.kind), row.identifier_key)}"
    network = limits.client_network()
    ceilings = _get_ceilings(row, recipient, device)
    ceiling = ceilings[0][0]
    is_of_stranger = ceiling is rules.CODES_FROM_ANYWHERE
    at_network = network if is_of_stranger else f"{network} {ceiling.kind}"
    limits.hit(
        (rules.CODE_PAUSE, f"{recipient} {row.purpose} {at_network}"),
        (rules.CODES, f"{recipient} {at_network}"),
        *ceilings,
        refusal=refusal,
    )
    if row.kind == Kind.PHONE:
        limits.hit((rules.TENANT_TEXT_CODES if is_of_stranger else rules.TEXT_MESSAGES, ""))


def _get_ceilings(row: VerificationCode, recipient: str, device: str) -> list[tuple[Limit, str]]:
    """Return the limits over all networks, with their keys."""
    if device:
        return [
            (rules.CODES_KNOWN_BROWSER, f"{recipient} {device}"),
            (rules.CODES_KNOWN_BROWSERS, recipient),
        ]
    if row.purpose == Purpose.SECOND_FACTOR:
        return [(rules.CODES_SECOND_STEP, recipient)]
    return [(rules.CODES_FROM_ANYWHERE, recipient)]
