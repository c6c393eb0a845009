"""Proving the second factor of a pending sign-in."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final

from django.db import transaction

from audit import log
from audit.events import Event
from audit.log import Attempt
from identity.factors import locks, settings_of_users
from identity.factors.errors import FactorNotAllowed, WrongFactor
from identity.factors.kinds import FactorType, add_methods
from identity.factors.levels import Level
from identity.factors.needed import Need, Way
from identity.limits.services import LoginAttempt
from identity.users import typed
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import checking, sign_ins, starting
from interaction.journeys.second_factor.sign_ins import Outcome, SignIn, Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from interaction.pending_sign_ins.models import PendingSignIn

# The key of the audit entry of the finished sign-in, by the way of its first factor.
_EVENTS: Final = {
    Way.PASSWORD: Event.SIGN_IN_PASSWORD,
    Way.CODE: Event.SIGN_IN_CODE,
    Way.SOCIAL: Event.SIGN_IN_SOCIAL,
}


@dataclass(frozen=True, slots=True)
class Step:
    """A pending sign-in of this browser, and what it still needs by the present policy."""

    stored: PendingSignIn
    sign_in: SignIn
    need: Need
    experience: SignInExperience
    visit: Visit

    @property
    def user(self) -> User:
        """The user whose first factor is proven."""
        return self.stored.user

    @property
    def binding(self) -> str:
        """What a sent code is bound to: the pending sign-in, and not only its browser."""
        return hashlib.sha256(f"second factor {self.stored.pk}".encode()).hexdigest()

    def check_usable(self, factor: FactorType) -> None:
        """Check that a factor can be used in this sign-in.

        Raises:
            FactorNotAllowed: the user does not have it, or it does not reach the level.

        """
        if factor not in self.need.methods:
            raise FactorNotAllowed


def find(visit: Visit) -> Step:
    """Return the pending sign-in of a browser.

    Raises:
        NothingPending: there is none, or it has ended.

    """
    request_id = visit.pending.row.pk if visit.pending else None
    stored = pending_sign_ins.find(visit.browser, request_id)
    if stored is None or stored.request_id != request_id:
        raise pending_sign_ins.NothingPending
    experience = experiences.current()
    sign_in = sign_ins.read(stored)
    return Step(stored, sign_in, starting.find_need(stored.user, sign_in, experience), experience, visit)


def verify(visit: Visit, *, factor: FactorType, code: str) -> Outcome:
    """Prove the second factor of a sign-in with a code, which is used up.

    A wrong code counts for the sign-in, for the person and for the address of the client.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the user does not have the factor, or it cannot be used in this sign-in.
        WrongFactor: the code is wrong or was used before, or there were too many wrong ones.
        credentials.Suspended: the code is right, but the user is suspended.
        limits.TooMany: too many from this address.

    """
    step = find(visit)
    step.check_usable(factor)
    try:
        with locks.code_attempt(step.user.pk) as attempt:
            checking.check(step.user, factor, code, binding=step.binding)
            return finish(step, factor, Level.TWO, attempt)
    except WrongFactor as error:
        checking.record_failure(step.user, factor, error)
        pending_sign_ins.count_try(step.stored)
        raise


def can_recover(step: Step) -> bool:
    """Return whether a recovery code can take the place of the second factor."""
    recovered = replace(step.sign_in, way=Way.RECOVERY)
    return bool(step.need.methods and starting.find_need(step.user, recovered, step.experience).enrolable)


def redeem_recovery_code(visit: Visit, *, code: str) -> Outcome:
    """Use a recovery code of an administrator. The sign-in goes on by setting up a new factor, and only so.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the sign-in needs no second factor, or the tenant has none that can be set up.
        WrongFactor: the code is wrong, was used before or has expired, or there were too many wrong ones.
        limits.TooMany: too many from this address.

    """
    step = find(visit)
    if not can_recover(step):
        raise FactorNotAllowed
    recovered = replace(step.sign_in, way=Way.RECOVERY)
    try:
        with locks.code_attempt(step.user.pk) as attempt:
            checking.check_recovery_code(step.user, code)
            with _finishing(step) as entry:
                return starting.go_on(
                    step.user,
                    recovered,
                    experience=step.experience,
                    visit=visit,
                    entry=entry,
                    attempt=attempt,
                )
    except WrongFactor as error:
        checking.record_failure(step.user, "RecoveryCode", error)
        pending_sign_ins.count_try(step.stored)
        raise


def send_code(visit: Visit, *, factor: FactorType) -> int:
    """Send a code to the verified address of the account, and return how many seconds it is valid.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the account has no such address, or it cannot be used in this sign-in.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this address.

    """
    step = find(visit)
    step.check_usable(factor)
    return checking.send(step.user, factor, binding=step.binding)


def skip(visit: Visit) -> Outcome:
    """Go on without the second factor, if the tenant only offers it. The offer is not made again.

    Raises:
        NothingPending: the browser has no pending sign-in.
        FactorNotAllowed: the step cannot be skipped.

    """
    step = find(visit)
    if not step.need.may_skip:
        raise FactorNotAllowed
    with _finishing(step) as entry, transaction.atomic():
        if not step.need.methods:
            settings_of_users.skip_prompt(step.user)
        log.record(Event.MFA_SKIP, user_id=step.user.pk, id=step.user.pk)
        declined = replace(step.sign_in, skips=True)
        return starting.go_on(step.user, declined, experience=step.experience, visit=visit, entry=entry)


def finish(step: Step, factor: FactorType, level: int, attempt: LoginAttempt | None = None) -> Outcome:
    """Go on with a sign-in whose second factor was just proven or set up.

    Raises:
        credentials.Suspended: the user is suspended.
        NothingPending: another request has finished the sign-in.

    """
    step.user.refresh_from_db(fields=("factors", "two_step"))  # a code may have been the last one
    amr = add_methods(step.sign_in.amr, factor)
    done = replace(step.sign_in, second=factor, level=max(level, step.sign_in.level), amr=amr)
    with _finishing(step) as entry:
        return starting.go_on(
            step.user, done, experience=step.experience, visit=step.visit, entry=entry, attempt=attempt
        )


@contextmanager
def _finishing(step: Step) -> Iterator[Attempt]:
    """Write the audit entry of the whole sign-in. It has the key of the way of the first factor."""
    by_amr = Event.SIGN_IN_PASSWORD if "pwd" in step.sign_in.amr else Event.SIGN_IN_CODE
    event = _EVENTS.get(step.sign_in.way, by_amr)
    with log.attempt(event, typed.identifier(step.user.identifier)) as entry:
        entry.application_id = step.visit.pending.application.pk if step.visit.pending else None
        yield entry
