"""Chooses, for front ends, between the pending sign-in of a browser and the session of its user."""

from identity.factors.kinds import FactorType
from identity.sessions.models import Session
from interaction.journeys.account import factors
from interaction.journeys.second_factor import (
    current_step,
    reauthentication,
    session_proofs,
    setting_up,
    verifying,
)
from interaction.journeys.second_factor.authenticator_setup import Offer
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.reauthentication import NotSignedIn
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pending_sign_ins.services import NothingPending


def find_step(visit: Visit) -> SecondStep | None:
    """Return the step of the browser's pending sign-in for this request, or that steps up its session."""
    try:
        return current_step.find(visit)
    except NothingPending:
        return None


def get_session(visit: Visit) -> Session:
    """Return the session of the browser.

    Raises:
        NotSignedIn: it has none.

    """
    if visit.current is None:
        raise NotSignedIn
    return visit.current


def begin_totp(visit: Visit) -> Offer:
    """Return a secret for an authenticator.

    Raises:
        NothingPending: the browser has neither a pending sign-in nor a session.
        FactorNotAllowed: the tenant does not use authenticators, or the user of the sign-in has a factor.
        reauthentication.ConfirmNeeded: the signed-in user has to confirm the identity.

    """
    step = find_step(visit)
    if step is not None:
        return setting_up.begin_totp(step)
    if visit.current is None:
        raise NothingPending
    reauthentication.check_reauthenticated(visit.current)
    return factors.begin_authenticator(visit.current)


def send_code(visit: Visit, *, factor: FactorType) -> int:
    """Send a code to the verified address of the account, and return how many seconds it is valid.

    Raises:
        NothingPending: the browser has neither a pending sign-in nor a session.
        FactorNotAllowed: the account has no such address, or it cannot be used here.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this network.

    """
    step = find_step(visit)
    if step is not None:
        return verifying.send_code(step, factor=factor)
    if visit.current is None:
        raise NothingPending
    return session_proofs.send_code(visit.current, visit.known, factor=factor)
