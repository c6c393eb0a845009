"""Whether a sign-in needs a second factor, and which: one pure function, tested by a table.

The order of the rules: a first factor that reaches every demanded level satisfies all of them. Then come
explicit demands of the request, a new link to an account elsewhere, the policies of person, tenant and
organization, and risk.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from identity.factors.kinds import ADDRESS_OF_FACTOR, BITS, FactorType
from identity.factors.levels import Level
from identity.factors.policy import ENROLABLE, Policy, Prompt, SocialRule
from identity.users.identifiers import Kind

# The level that a second factor of each kind reaches after any first factor.
_REACHES: Final = dict.fromkeys(FactorType, Level.TWO) | {FactorType.WEBAUTHN: Level.PHISHING_RESISTANT}
POLICIES: Final = frozenset(("person", "tenant", "organization"))  # whose policy can be a reason
RISK: Final = "risk:"  # the prefix of a reason that is a risk


class FirstFactor(StrEnum):
    """What was proven first: the way that the audit log and pending sign-ins name."""

    PASSWORD = "password"  # noqa: S105 - a way
    CODE = "code"
    SOCIAL = "social"
    # An account elsewhere that is not linked yet, and will be by its email address.
    LINKING = "linking"
    PASSKEY = "passkey"
    RECOVERY = "recovery"
    REGISTER = "register"
    # A code for a forgotten password, which never signs in: see ``find_need``.
    FORGOT_PASSWORD = "forgot_password"  # noqa: S105 - a way
    SESSION = "session"  # nothing was proven now: the user is signed in


# The reasons of explicit demands. Users who do not meet one can return to the application.
EXPLICIT: Final = frozenset(("acr", "application", "organization"))


@dataclass(frozen=True, slots=True)
class AvailableFactors:
    """The second factors that a user can prove, and what the user has chosen about them.

    ``factors`` are the bits of ``User.factors``, and ``reachable`` the kinds of verified addresses to which
    a code can be sent now.
    """

    factors: int = 0
    two_step: bool = False
    reachable: frozenset[Kind] = frozenset()
    has_skipped: bool = False

    def get_usable(self, policy: Policy, used: frozenset[Kind] = frozenset()) -> list[FactorType]:
        """Return the second factors that the user has and the tenant uses, except on ``used`` channels.

        A second factor is never on the channel of the first one.
        """
        return [
            factor
            for factor in FactorType
            if factor in policy.factors and self._has(factor) and ADDRESS_OF_FACTOR.get(factor) not in used
        ]

    def _has(self, factor: FactorType) -> bool:
        if factor in ADDRESS_OF_FACTOR:
            return ADDRESS_OF_FACTOR[factor] in self.reachable
        return bool(self.factors & BITS[factor])


@dataclass(frozen=True, slots=True)
class Proven:
    """What is proven so far: the way, the level, and the channels of the codes that were entered."""

    way: str
    level: int = Level.ONE
    channels: frozenset[Kind] = frozenset()
    # The user has just declined what may be skipped.
    skips: bool = False


@dataclass(frozen=True, slots=True)
class Demands:
    """What the request, the user's organizations and the risk of the sign-in ask for.

    ``essential`` and ``wished`` have a level for each reason: ``acr`` or ``application``. A strict
    organization requires two factors. ``in_strict_organization``: the user is a member of one.
    ``for_strict_organization``: the request asks for a token of one.
    """

    essential: dict[str, int] = field(default_factory=dict)
    wished: dict[str, int] = field(default_factory=dict)
    in_strict_organization: bool = False
    risks: tuple[str, ...] = ()
    for_strict_organization: bool = False


@dataclass(frozen=True, slots=True)
class Need:
    """What a sign-in still needs: to reach the level ``least``, or nothing if that is 0.

    ``methods`` are the factors that the user has and that reach the level, the strongest first. Without any,
    ``enrolable`` are those that can be set up now.
    """

    least: int = 0
    methods: tuple[FactorType, ...] = ()
    enrolable: tuple[FactorType, ...] = ()
    may_skip: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether the session can start."""
        return self.least == 0


NOTHING: Final = Need()


def find_need(
    policy: Policy, available: AvailableFactors, proven: Proven, demands: Demands, *, is_remembered: bool
) -> Need:
    """Return what a sign-in needs besides what is proven.

    ``is_remembered``: the user has chosen to skip the second factor in this browser. This satisfies policies
    and organizations, but neither a demanded level nor a risk, nor a new link to an account elsewhere.
    """
    if not policy.is_on:
        # Without second factors, only another sign-in can meet a demand, with a passkey alone.
        return _find_demanded(policy, [], proven, demands.essential, may_skip=False) or NOTHING
    if proven.way == FirstFactor.RECOVERY and proven.level < Level.TWO:
        # An administrator vouches for the user, whose only way on is a new factor.
        return Need(Level.TWO, (), _get_enrolable(policy, Level.TWO), reasons=("person",))
    if proven.way == FirstFactor.FORGOT_PASSWORD:
        return _find_reset_need(policy, available)
    usable = available.get_usable(policy, proven.channels)
    required = dict(demands.essential)
    if proven.way == FirstFactor.LINKING and _has_set_up(usable):
        # The account is a further way to sign in, for which the account page always asks for the factor, too.
        required["person"] = Level.TWO
    if not is_remembered:
        if demands.for_strict_organization:
            required["organization"] = Level.TWO
        required |= dict.fromkeys(_get_policy_reasons(policy, available, proven, demands, usable), Level.TWO)
    if usable:
        required |= dict.fromkeys((f"{RISK}{risk}" for risk in demands.risks), Level.TWO)
    if need := _find_demanded(policy, usable, proven, required, may_skip=False):
        return need
    if proven.skips:
        return NOTHING
    wish = _find_demanded(policy, usable, proven, demands.wished, may_skip=True)
    return wish or _find_offer(policy, available, proven, usable)


def _has_set_up(usable: list[FactorType]) -> bool:
    """Return whether the user has set up one of the factors, and not only has addresses for codes."""
    return any(factor not in ADDRESS_OF_FACTOR for factor in usable)


def can_reach(policy: Policy, available: AvailableFactors, proven: Proven, level: int) -> bool:
    """Return whether a sign-in can reach a level, with a factor that the user has or can set up."""
    usable = available.get_usable(policy, proven.channels)
    return any(_REACHES[factor] >= level for factor in usable) or bool(_get_enrolable(policy, level))


def _find_reset_need(policy: Policy, available: AvailableFactors) -> Need:
    """Return what a user needs, besides the code that was sent, to replace a forgotten password.

    Codes to another address do not count: a person who controls the mailbox may control the phone, too.
    """
    usable = available.get_usable(policy, used=frozenset(ADDRESS_OF_FACTOR.values()))
    return Need(Level.TWO, tuple(usable), reasons=(FirstFactor.FORGOT_PASSWORD,)) if usable else NOTHING


def _get_policy_reasons(
    policy: Policy, available: AvailableFactors, proven: Proven, demands: Demands, usable: list[FactorType]
) -> Iterable[str]:
    """Return whose policy asks for two factors: the person's own, the tenant's, an organization's."""
    if _is_waived(policy, proven, usable):
        return
    if available.two_step and usable:  # what the tenant switched off is no longer asked for
        yield "person"
    if policy.prompt is Prompt.MANDATORY:
        yield "tenant"
    if demands.in_strict_organization and policy.organization_prompt is Prompt.MANDATORY:
        yield "organization"


def _is_waived(policy: Policy, proven: Proven, usable: list[FactorType]) -> bool:
    """Return whether no policy asks: in a session, or if the tenant leaves that to the social provider.

    Before an account is linked by its email address, it leaves nothing to the provider for a user who has a
    second factor: a person who controls the mailbox may have created the account.
    """
    if proven.way == FirstFactor.SESSION:
        return True
    is_trusted = proven.way == FirstFactor.SOCIAL or (proven.way == FirstFactor.LINKING and not usable)
    return is_trusted and policy.social is SocialRule.SKIP


def _find_demanded(
    policy: Policy, usable: list[FactorType], proven: Proven, levels: dict[str, int], *, may_skip: bool
) -> Need | None:
    unmet = {reason: level for reason, level in levels.items() if level > proven.level}
    if not unmet:
        return None
    least = max(unmet.values())
    methods = tuple(factor for factor in usable if _REACHES[factor] >= least)
    enrolable = () if methods else _get_enrolable(policy, least)
    if enrolable and usable and proven.level < Level.TWO:
        # A user who has a second factor must prove it before adding another one.
        methods, enrolable = tuple(usable), ()
    if may_skip and not (methods or enrolable):
        return None  # the user cannot fulfil the wish
    return Need(least, methods, enrolable, may_skip, tuple(unmet))


def _get_enrolable(policy: Policy, level: int) -> tuple[FactorType, ...]:
    return tuple(factor for factor in ENROLABLE if factor in policy.factors and _REACHES[factor] >= level)


def _find_offer(
    policy: Policy, available: AvailableFactors, proven: Proven, usable: list[FactorType]
) -> Need:
    """Return the offer to set up a factor. A user who has declined gets no further offer."""
    enrolable = _get_enrolable(policy, Level.TWO)
    if usable or available.has_skipped or proven.level > Level.ONE or _is_waived(policy, proven, usable):
        return NOTHING
    is_offered = policy.prompt is Prompt.AT_SIGN_IN_AND_SIGN_UP or (
        policy.prompt is Prompt.AT_SIGN_IN and proven.way != FirstFactor.REGISTER
    )
    if not (is_offered and enrolable):
        return NOTHING
    return Need(Level.TWO, (), enrolable, may_skip=True, reasons=("tenant",))
