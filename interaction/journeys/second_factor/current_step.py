"""What a browser has to prove now: in its pending sign-in or, without one, in its session."""

import hashlib
from dataclasses import dataclass, replace
from uuid import UUID

from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.factors.needed import EXPLICIT, FirstFactor, Need
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import reauthentication, sign_ins, starting
from interaction.journeys.second_factor.sign_ins import SignIn, Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from interaction.pending_sign_ins.models import PendingSignIn
from oidc.provider.authorization import demands


class NothingToProve(pending_sign_ins.NothingPending):
    """The request wishes for a stronger sign-in, but the user of the session can prove nothing more."""


@dataclass(frozen=True, slots=True)
class SecondStep:
    """A pending sign-in of a browser, or its session, and what it still needs by the current policy.

    ``stored`` is None if the session needs a further factor for a request. ``is_stale``: the user must sign
    in again before setting one up.
    """

    user: User
    stored: PendingSignIn | None
    sign_in: SignIn
    need: Need
    experience: SignInExperience
    visit: Visit
    is_stale: bool = False

    @property
    def id(self) -> UUID:
        """The id of the pending sign-in or of the session, to which challenges are bound."""
        if self.stored is None:
            return self.session.pk
        return self.stored.pk

    @property
    def session(self) -> Session:
        """The session of the browser.

        Raises:
            NothingPending: there is none.

        """
        if self.visit.current is None:
            raise pending_sign_ins.NothingPending
        return self.visit.current

    @property
    def is_reset(self) -> bool:
        """Whether the step allows a new password, and does not start a session."""
        return self.sign_in.way == FirstFactor.FORGOT_PASSWORD

    @property
    def may_cancel(self) -> bool:
        """Whether the user may return to the application, which then gets the error of an unmet demand."""
        has_demand = not EXPLICIT.isdisjoint(self.need.reasons)
        return has_demand and not self.need.may_skip and self.visit.pending is not None

    def count_try(self) -> None:
        """Count a wrong code or passkey. Ten end a pending sign-in; a session is not ended."""
        if self.stored is not None:
            pending_sign_ins.count_try(self.stored)

    @property
    def binding(self) -> str:
        """What a sent code is bound to: the pending sign-in or the session, and not only the browser."""
        return hashlib.sha256(f"second factor {self.id}".encode()).hexdigest()

    def check_usable(self, factor: FactorType) -> None:
        """Check that a factor can be used in this sign-in.

        Raises:
            FactorNotAllowed: the user does not have it, or it does not reach the level.

        """
        if factor not in self.need.methods:
            raise FactorNotAllowed(
                "type: the user does not have this factor, or it cannot be used in this sign-in"
            )


def find(visit: Visit) -> SecondStep:
    """Return the step of a browser: of its pending sign-in or, without one, of its session.

    Raises:
        NothingPending: no sign-in is pending, and the session is strong enough for the request.
        NothingToProve: no sign-in is pending, and the user has no factor that the request wishes for.

    """
    request_id = visit.pending.row.pk if visit.pending else None
    stored = visit.stored
    if stored is None or stored.request_id != request_id:
        return _find_in_session(visit)
    experience = visit.get_experience()
    sign_in, need = starting.judge(stored.user, sign_ins.read(stored), experience, visit)
    if need.is_nothing or _has_lost_factors(stored, need):  # the policy or the factors were changed
        raise pending_sign_ins.NothingPending
    return SecondStep(stored.user, stored, sign_in, need, experience, visit)


def _has_lost_factors(stored: PendingSignIn, need: Need) -> bool:
    """Return whether the factors that the sign-in waited for were removed, so it may not set up new ones.

    The user removed the factors, but another person may have proven the first factor of this sign-in.
    """
    return not need.methods and not stored.must_enrol


def _find_in_session(visit: Visit) -> SecondStep:
    session, pending = visit.current, visit.pending
    if session is None or pending is None:
        raise pending_sign_ins.NothingPending
    request = pending.authorization
    is_met = demands.is_target_met(request, session)
    if is_met and not demands.must_step_up(request, session, pending.row):
        raise pending_sign_ins.NothingPending
    experience, sign_in = visit.get_experience(), sign_ins.of_session(session)
    need = starting.find_need(session.user, sign_in, experience, pending)
    if need.is_nothing:
        raise NothingToProve
    is_stale = bool(need.enrolable) and reauthentication.is_too_old_to_enrol(session)
    if is_stale:
        need = replace(need, enrolable=())
    return SecondStep(session.user, None, sign_in, need, experience, visit, is_stale)
