"""Setting up a passkey or a security key: during a sign-in, or on the account page."""

from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from identity.factors import (
    ceremonies,
    ceremony_options,
    credential_json,
    forgetting,
    passkeys,
    settings_of_users,
)
from identity.factors.ceremony_options import Account
from identity.factors.challenges import Binding, Ceremony
from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.models import Passkey
from identity.factors.needed import FirstFactor
from identity.factors.passkey_refusals import PasskeyRefused
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import row_locks
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.passkeys import step_up
from interaction.journeys.second_factor import reauthentication, setting_up, verifying
from interaction.journeys.second_factor.current_step import SecondStep
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.journeys.second_factor.sign_ins import Outcome


def get_options_in_sign_in(step: SecondStep, ceremony: Ceremony) -> dict[str, Any]:
    """Return the options to create a passkey in a sign-in whose user has no second factor yet.

    Raises:
        FactorNotAllowed: the user has a factor, or the tenant does not use passkeys.

    """
    _check_enrolable(step)
    # The lost passkeys will be deleted, so they are not excluded: their device may create the new passkey.
    has_lost_all = step.sign_in.way == FirstFactor.RECOVERY
    own = Passkey.objects.none() if has_lost_all else Passkey.objects.filter(user=step.user)
    return _get_options(step.user, _bind_step(step, ceremony), step.experience, own)


def confirm_in_sign_in(
    step: SecondStep, ceremony: Ceremony, *, credential: object, name: str = ""
) -> Outcome:
    """Store a passkey, which completes the sign-in.

    Raises:
        NothingPending: another request has finished the sign-in.
        FactorNotAllowed: the user has a factor, or the tenant does not use passkeys.
        PasskeyRefused: a check failed.
        AlreadyEnrolled: a user of this tenant has this passkey.
        credentials.Suspended: the user is suspended.
        limits.TooMany: too many sign-ins from this network.

    """
    limits.hit_by_network(rules.SIGN_INS)
    _check_enrolable(step)
    try:
        with transaction.atomic():
            setting_up.lock_factors(step)
            _store(step.user, _bind_step(step, ceremony), credential, name)
            result = verifying.continue_after_factor(step, FactorType.WEBAUTHN, Level.PHISHING_RESISTANT)
            return setting_up.complete(result, step)
    except PasskeyRefused:
        step.count_try()
        raise


def get_options_in_session(session: Session, ceremony: Ceremony, *, browser: str) -> dict[str, Any]:
    """Return the options to create a passkey for the signed-in user.

    Raises:
        FactorNotAllowed: the tenant does not use passkeys for this.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.

    """
    experience = experiences.current()
    check_allowed(ceremony, experience)
    reauthentication.check_for_factors(session)
    own = Passkey.objects.filter(user=session.user)
    return _get_options(session.user, _bind_session(session, ceremony, browser), experience, own)


def confirm_in_session(  # noqa: PLR0913 - what a registration is bound to
    session: Session,
    ceremony: Ceremony,
    *,
    credential: object,
    name: str = "",
    password: str = "",
    browser: str,
) -> Renewed:
    """Store a passkey of the signed-in user. With the first factor, the user's other browsers are signed out.

    Raises:
        FactorNotAllowed: the tenant does not use passkeys for this.
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        PasskeyRefused: a check failed.
        AlreadyEnrolled: a user of this tenant has this passkey.
        TooManyFactors: the user has 20.

    """
    experience = experiences.current()
    check_allowed(ceremony, experience)
    reauthentication.reauthenticate_for_factors(session, password)
    with transaction.atomic():
        is_first = not row_locks.lock_factors(session.user)
        passkey = _store(session.user, _bind_session(session, ceremony, browser), credential, name)
        reauthentication.check_still_signed_in(session)
        if is_first:
            sessions.end_others(session)
            forgetting.end_remembered(session.user)
        renewed = replace(step_up.record(session, experience.tenant), factor_id=passkey.pk)
    session.user.refresh_from_db(fields=("factors", "two_step"))
    return renewed


def check_allowed(ceremony: Ceremony, experience: SignInExperience) -> None:
    """Check that the tenant uses passkeys for a ceremony that creates one.

    Raises:
        FactorNotAllowed: it does not.

    """
    is_factor = FactorType.WEBAUTHN in experience.factor_policy.factors
    signs_in = ceremony is Ceremony.SET_UP and experience.has_passkey_sign_in
    if not (is_factor or signs_in):
        raise FactorNotAllowed


def _get_options(
    user: User, binding: Binding, experience: SignInExperience, own: QuerySet[Passkey]
) -> dict[str, Any]:
    account = Account(user.pk.bytes, user.identifier, user.name)
    return ceremony_options.creation_options(binding, account, experience.tenant.name, passkeys.describe(own))


def _store(user: User, binding: Binding, credential: object, name: str) -> Passkey:
    """Store a passkey and notify the user. With a security key, sign-ins ask for a second factor from now on.

    With a passkey they do not: it may be on one device only, and the user would be locked out on the others.
    """
    new = ceremonies.verify_registration(credential_json.read_registration(credential), binding)
    passkey = passkeys.add(user, new, name=name)
    if binding.ceremony is Ceremony.SET_UP_SECURITY_KEY:
        settings_of_users.set_two_step(user, is_on=True)
    notify(user, Notice.FACTOR_ADDED)
    return passkey


def _check_enrolable(step: SecondStep) -> None:
    if FactorType.WEBAUTHN not in step.need.enrolable:
        raise FactorNotAllowed(
            "a passkey cannot be set up now: it is switched off, the user has a factor, or must sign in again"
        )


def _bind_step(step: SecondStep, ceremony: Ceremony) -> Binding:
    return Binding(ceremony, step.visit.browser, str(step.user.pk), str(step.id))


def _bind_session(session: Session, ceremony: Ceremony, browser: str) -> Binding:
    return Binding(ceremony, browser, str(session.user_id), str(session.pk))
