"""Proving the second factor that a sign-in or an authorization request needs.

The sign-in then continues: see ``current_step`` for what it needs, and ``checking`` for the codes.
``session_proofs`` proves a factor again, for a change that the signed-in user makes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from audit import log
from audit.events import Event
from audit.log import AuditedOperation
from identity.factors import locks
from identity.factors.errors import FactorNotAllowed, WrongFactor
from identity.factors.kinds import RECOVERY_CODE, FactorType, add_methods
from identity.factors.levels import Level
from identity.factors.needed import FirstFactor
from identity.users import typed_identifiers
from interaction.journeys.second_factor import (
    backup,
    checking,
    resetting,
    session_proofs,
    starting,
)
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.sign_ins import (
    CombinedSuccess,
    Outcome,
    SignInResult,
    SupportsSucceed,
)

# The key of the audit entry of the finished sign-in, by the way of its first factor.
_EVENTS: Final[dict[str, Event]] = {
    FirstFactor.PASSWORD: Event.SIGN_IN_PASSWORD,
    FirstFactor.CODE: Event.SIGN_IN_CODE,
    FirstFactor.SOCIAL: Event.SIGN_IN_SOCIAL,
    FirstFactor.LINKING: Event.SIGN_IN_SOCIAL,
}


def verify(step: SecondStep, *, factor: FactorType, code: str, remember: bool = False) -> Outcome:
    """Prove the second factor of a sign-in with a code, which is used up.

    A wrong code counts for the sign-in, for the person and for the address of the client. With
    ``remember``, this browser is remembered if the tenant allows it.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: the user does not have the factor, or it cannot be used in this sign-in.
        WrongFactor: the code is wrong or was used before, or there were too many wrong ones.
        credentials.Suspended: the code is right, but the user is suspended.
        limits.TooMany: too many from this network.

    """
    step.check_usable(factor)
    try:
        with locks.code_attempt(step.user.pk) as counted:
            own = step.visit.authenticators if step.stored else None
            checked = checking.check(step.user, factor, code, binding=step.binding, own=own)
            to_succeed = CombinedSuccess((checked, counted))
            result = continue_after_factor(step, factor, Level.TWO, to_succeed, remember=remember)
    except WrongFactor as error:
        checking.record_failure(step.user, factor, error)
        step.count_try()
        raise
    if factor is FactorType.BACKUP_CODE and isinstance(result, SignInResult):
        return backup.redirect_to_codes(result, step.visit) if backup.should_offer(result.session) else result
    return result


def can_recover(step: SecondStep) -> bool:
    """Return whether a recovery code can take the place of the second factor.

    The user need not have a factor: all that the code allows is to set up a new one.
    """
    if step.stored is None:
        return False
    recovered = replace(step.sign_in, way=FirstFactor.RECOVERY)
    need = starting.find_need(step.user, recovered, step.experience, step.visit.pending)
    return bool(need.enrolable)


def redeem_recovery_code(step: SecondStep, *, code: str) -> Outcome:
    """Use a recovery code from an administrator. The user then has to set up a new factor.

    If the step replaces a forgotten password, the code is only compared: the next sign-in needs it again.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: a session is stepped up, or the tenant has no factor that can be set up.
        WrongFactor: the code is wrong, was used before or has expired, or there were too many wrong ones.
        limits.TooMany: too many from this network.

    """
    if not can_recover(step):
        raise FactorNotAllowed("a recovery code cannot be used in this step")
    recovered = replace(step.sign_in, way=FirstFactor.RECOVERY)
    try:
        with locks.code_attempt(step.user.pk) as counted:
            checked = checking.check_recovery_code(step.user, code, keep=step.is_reset)
            to_succeed = CombinedSuccess((checked, counted))
            if step.stored is not None and step.is_reset:
                return resetting.allow(step.stored, step.visit, RECOVERY_CODE, to_succeed)
            with auditing_sign_in(step) as audited:
                return starting.start_session_or_store(
                    step.user,
                    recovered,
                    experience=step.experience,
                    visit=step.visit,
                    audited=audited,
                    to_succeed=to_succeed,
                )
    except WrongFactor as error:
        checking.record_failure(step.user, RECOVERY_CODE, error)
        step.count_try()
        raise


def send_code(step: SecondStep, *, factor: FactorType) -> int:
    """Send a code to the verified address of the account, and return how many seconds it is valid.

    Raises:
        FactorNotAllowed: the account has no such address, or it cannot be used in this sign-in.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this network.

    """
    step.check_usable(factor)
    return checking.send(step.user, factor, binding=step.binding, known=step.visit.known)


def continue_after_factor(
    step: SecondStep,
    factor: FactorType,
    level: int,
    to_succeed: SupportsSucceed | None = None,
    *,
    remember: bool = False,
) -> Outcome:
    """Continue a sign-in whose second factor was just proven or set up, with the success of ``to_succeed``.

    Raises:
        credentials.Suspended: the user is suspended.
        NothingPending: another request has finished the sign-in.
        reauthentication.SignInAgain: the session has ended.

    """
    if step.stored is None:
        return _step_up(step, factor, level, to_succeed)
    if step.is_reset:
        return resetting.allow(step.stored, step.visit, factor, to_succeed)
    if factor not in step.need.methods:  # the factor is new
        step.user.refresh_from_db(fields=("factors", "two_step"))
    amr = add_methods(step.sign_in.amr, factor)
    reached = max(level, step.sign_in.level)
    done = replace(step.sign_in, second=factor, level=reached, amr=amr, remember=remember)
    with auditing_sign_in(step) as audited:
        return starting.start_session_or_store(
            step.user,
            done,
            experience=step.experience,
            visit=step.visit,
            audited=audited,
            to_succeed=to_succeed,
        )


def _step_up(
    step: SecondStep, factor: FactorType, level: int, to_succeed: SupportsSucceed | None
) -> SignInResult:
    """Store that a factor was proven in a session, which continues with a new secret."""
    renewed = session_proofs.step_up(
        step.session, factor, level, tenant=step.experience.tenant, to_succeed=to_succeed
    )
    return SignInResult(
        redirect_to=step.visit.next_url,
        session_token=renewed.token,
        user=step.user,
        cookie_seconds=renewed.cookie_seconds,
        session=renewed.session,
    )


@contextmanager
def auditing_sign_in(step: SecondStep) -> Iterator[AuditedOperation]:
    """Write the audit entry of the whole sign-in, whose key names the way of the first factor."""
    by_amr = Event.SIGN_IN_PASSWORD if "pwd" in step.sign_in.amr else Event.SIGN_IN_CODE
    event = _EVENTS.get(step.sign_in.way, by_amr)
    with log.attempt(event, typed_identifiers.build(step.user.identifier)) as audited:
        audited.application_id = step.visit.application_id
        yield audited
