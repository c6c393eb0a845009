"""Setting up a second factor during a sign-in: only a user who has none yet can do that."""

from django.db import transaction

from identity.factors import authenticators, forgetting, services, settings_of_users
from identity.factors.errors import FactorNotAllowed, WrongFactor
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.needed import FirstFactor
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions import services as sessions
from identity.users import credentials
from identity.users.notices import Notice, notify
from interaction.journeys.second_factor import authenticator_setup, backup, verifying
from interaction.journeys.second_factor.authenticator_setup import Offer
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.sign_ins import Outcome, SignInResult


def begin_totp(step: SecondStep, *, repeated: str = "") -> Offer:
    """Return a new secret for an authenticator, or that of ``repeated``, the enrolment of an earlier offer.

    Raises:
        FactorNotAllowed: the user has a factor, or the tenant does not use authenticators.
        EnrolmentExpired: ``repeated`` has expired.

    """
    _check_enrolable(step, FactorType.TOTP)
    browser = step.visit.browser
    if repeated:
        return authenticator_setup.repeat_offer(step.user, step.experience, repeated, binding=browser)
    return authenticator_setup.new_offer(step.user, step.experience, binding=browser)


def confirm_totp(step: SecondStep, *, enrolment: str, code: str, name: str = "") -> Outcome:
    """Set up an authenticator, which completes the sign-in, and which later sign-ins ask for.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: the user has a factor, or the tenant does not use authenticators.
        EnrolmentExpired: the secret is more than 15 minutes old, or of another user or browser.
        WrongFactor: the code is not of this secret.
        credentials.Suspended: the user is suspended.
        limits.TooMany: too many sign-ins from this network.

    """
    limits.hit_by_network(rules.SIGN_INS)
    _check_enrolable(step, FactorType.TOTP)
    secret = authenticators.open_enrolment(step.user, enrolment, browser=step.visit.browser)
    try:
        with transaction.atomic():
            lock_factors(step)
            authenticators.confirm(step.user, secret, code, name=name)
            settings_of_users.set_two_step(step.user, is_on=True)
            notify(step.user, Notice.FACTOR_ADDED)
            result = verifying.continue_after_factor(step, FactorType.TOTP, Level.TWO)
            return complete(result, step)
    except WrongFactor:
        step.count_try()
        raise


def complete(result: Outcome, step: SecondStep) -> Outcome:
    """End the user's other sessions, which began without a second factor. Backup codes are the next page."""
    if not isinstance(result, SignInResult):
        return result
    sessions.end_others(result.session)
    forgetting.end_remembered(result.user)
    return backup.redirect_to_codes(result, step.visit) if backup.are_on(step.experience) else result


def lock_factors(step: SecondStep) -> None:
    """Lock the factors of a user for the transaction that adds one.

    After a recovery code, the earlier factors are deleted: the user has lost them. If the request demands a
    stronger factor than the first new one, a second new one is added to it.

    Raises:
        FactorNotAllowed: the user has set up or removed another factor meanwhile.
        credentials.InvalidCredentials: the password was changed meanwhile.

    """
    known = step.user.factors
    credentials.lock_for_sign_in(step.user)
    if step.sign_in.way == FirstFactor.RECOVERY and step.sign_in.level < Level.TWO:
        services.clear(step.user)
        return
    step.user.refresh_from_db(fields=("factors",))
    if step.user.factors != known:
        raise FactorNotAllowed("the factors of the user were changed meanwhile: start again")


def _check_enrolable(step: SecondStep, factor: FactorType) -> None:
    if factor not in step.need.enrolable:
        raise FactorNotAllowed(
            "this factor cannot be set up now: it is off, or the user has another or must sign in again"
        )
