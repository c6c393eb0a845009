"""The second factors that a user can prove now."""

from identity.factors import passkeys
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.needed import AvailableFactors
from identity.factors.policy import Policy
from identity.users.factor_bits import FIRST_PASSKEY, PASSKEY
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors import delivery
from interaction.verification import recipients, resets


def find(user: User, policy: Policy, proven: FactorType | None = None) -> AvailableFactors:
    """Return the second factors of a user who has just ``proven`` a factor.

    The database is read only for factors that the tenant has.
    """
    return AvailableFactors(
        factors=_get_factors(user, policy, proven),
        two_step=user.two_step,
        reachable=get_reachable(user, policy),
        has_skipped=user.factor_skipped_at is not None,
    )


def _get_factors(user: User, policy: Policy, proven: FactorType | None) -> int:
    """Return the bits of the factors that work here. A passkey that was made for another address does not.

    The database is read only for users with passkeys, if passkeys are a second factor of the tenant, and not
    right after a passkey was used.
    """
    has_passkeys = bool(user.factors & PASSKEY) and FactorType.WEBAUTHN in policy.factors
    if has_passkeys and proven is not FactorType.WEBAUTHN and not passkeys.has_usable(user):
        return user.factors & ~(PASSKEY | FIRST_PASSKEY)
    return user.factors


def get_reachable(user: User, policy: Policy) -> frozenset[Kind]:
    """Return the kinds of verified addresses to which a code can be sent as a second factor."""
    verified = [
        kind
        for factor, kind in ADDRESS_OF_FACTOR.items()
        if factor in policy.factors and getattr(user, kind) and getattr(user, f"{kind}_verified")
    ]
    channels = delivery.channels() if verified else set()
    return frozenset(kind for kind in verified if recipients.channel_of(kind) in channels)


def find_used_channels(
    user: User, available: AvailableFactors, policy: Policy, entered: frozenset[Kind]
) -> frozenset[Kind]:
    """Return the channels that are no second factor in this sign-in.

    These are the channels of the first factor. After a password was set with a mailed code, codes to the same
    mailbox prove nothing else, so they do not count for a day if the user has another factor.
    """
    reachable = {kind: str(getattr(user, f"{kind}_key")) for kind in available.reachable - entered}
    if not reachable:
        return entered
    return leave_out(available, policy, entered | resets.find_kinds(reachable), entered)


def leave_out(
    available: AvailableFactors, policy: Policy, channels: frozenset[Kind], entered: frozenset[Kind]
) -> frozenset[Kind]:
    """Return the channels that are no second factor: ``channels``, or only the email of them, or ``entered``.

    More than ``entered`` is left out only if the user has another factor.
    """
    choices = (channels, entered | (channels & {Kind.EMAIL}))
    return next((used for used in choices if available.get_usable(policy, used)), entered)


def find_mailbox_of_account(user: User, policy: Policy) -> frozenset[Kind]:
    """Return the email, as the channel of an account elsewhere, if the user has another second factor.

    A person who controls the mailbox often controls the account there, so a code to the mailbox may prove
    nothing else. The email that the provider names does not matter, because its owner may change it there.
    """
    used = frozenset({Kind.EMAIL})
    if FactorType.EMAIL_CODE not in policy.factors or not user.email_verified:
        return frozenset()
    return used if find(user, policy).get_usable(policy, used) else frozenset()


def mask_address(user: User, factor: FactorType) -> str:
    """Return where the code of a factor is sent, so that its owner recognizes it; empty for other factors."""
    if factor not in ADDRESS_OF_FACTOR:
        return ""
    address = str(getattr(user, ADDRESS_OF_FACTOR[factor]))
    if factor is FactorType.PHONE_CODE:
        return f"•••{address[-2:]}"
    name, _, domain = address.rpartition("@")
    host, dot, ending = domain.rpartition(".")
    return f"{name[:1]}•••@{host[:1]}•••{dot}{ending}"
