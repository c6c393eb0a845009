"""The second factors of a signed-in user: a list, and changes that need a fresh proof."""

from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from database import ids
from identity.factors import authenticators, backup_codes, forgetting, services, settings_of_users
from identity.factors.errors import FactorError, FactorNotAllowed
from identity.factors.kinds import ADDRESS_OF_FACTOR, FactorType
from identity.factors.needed import AvailableFactors
from identity.factors.policy import Policy
from identity.factors.services import NoSuchFactor, StoredFactor
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import row_locks, sign_in_ways
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import (
    authenticator_setup,
    available_factors,
    backup,
    demands,
    reauthentication,
    session_proofs,
)
from interaction.journeys.second_factor.authenticator_setup import Offer
from interaction.journeys.second_factor.session_proofs import Renewed


class FactorRequired(FactorError):
    """A policy demands a second factor, and this is the last one."""

    status = 403
    reason = "factor_required"
    message = "a second factor is required here: set up another one first"


class NoWayIn(FactorError):
    """The passkey is the user's only way to sign in."""

    status = 403
    reason = "no_way_in"
    message = "this is the only way to sign in: set up another one first"


@dataclass(frozen=True, slots=True)
class Overview:
    """What the security page shows of a user."""

    factors: list[StoredFactor]
    sent: list[str]
    two_step: bool
    is_required: bool
    may_add_authenticator: bool
    may_have_backup_codes: bool
    may_have_passkeys: bool
    may_have_remembered: bool

    @property
    def is_usable(self) -> bool:
        """Whether the user has a factor that can be asked for."""
        return bool(self.factors or self.sent)


def get_overview(session: Session, experience: SignInExperience) -> Overview | None:
    """Return the second factors of a user, or None if the tenant, whose experience is given, has none."""
    policy = experience.factor_policy
    if not experience.has_factors:
        return None
    user = session.user
    usable = available_factors.find(user, policy).get_usable(policy)
    stored = [factor for factor in services.get_factors(user) if factor.type in policy.factors]
    return Overview(
        factors=[factor for factor in stored if factor.type is not FactorType.BACKUP_CODE],
        sent=[
            available_factors.mask_address(user, factor) for factor in usable if factor in ADDRESS_OF_FACTOR
        ],
        two_step=user.two_step,
        is_required=demands.is_factor_required(user, policy),
        may_add_authenticator=FactorType.TOTP in policy.factors,
        may_have_backup_codes=FactorType.BACKUP_CODE in policy.factors and bool(user.factors),
        may_have_passkeys=FactorType.WEBAUTHN in policy.factors or experience.has_passkey_sign_in,
        may_have_remembered=experience.trusted_devices is not None,
    )


def count_backup_codes(session: Session) -> int:
    """Return the number of unused backup codes of a user."""
    return backup_codes.count(session.user)


def begin_authenticator(session: Session, *, repeated: str = "") -> Offer:
    """Return a new secret for an authenticator, or that of ``repeated``, the enrolment of an earlier offer.

    Raises:
        FactorNotAllowed: the tenant does not use authenticators.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        EnrolmentExpired: ``repeated`` has expired.

    """
    experience = _get_experience(FactorType.TOTP)
    reauthentication.check_for_factors(session)
    binding = str(session.pk)
    if repeated:
        return authenticator_setup.repeat_offer(session.user, experience, repeated, binding=binding)
    return authenticator_setup.new_offer(session.user, experience, binding=binding)


def add_authenticator(session: Session, *, enrolment: str, code: str, name: str, password: str) -> Renewed:
    """Set up an authenticator, which is asked for from the next sign-in on.

    With the first factor, the user's other browsers are signed out. This browser's session reaches the level
    of the factor.

    Raises:
        FactorNotAllowed: the tenant does not use authenticators.
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        EnrolmentExpired: the secret is more than 15 minutes old, or of another user or session.
        WrongFactor: the code is not of this secret.
        AlreadyEnrolled: the user has this authenticator.
        TooManyFactors: the user has five.

    """
    tenant = _get_experience(FactorType.TOTP).tenant
    reauthentication.reauthenticate_for_factors(session, password)
    secret = authenticators.open_enrolment(session.user, enrolment, browser=str(session.pk))
    with transaction.atomic():
        is_first = not row_locks.lock_factors(session.user)
        added = authenticators.confirm(session.user, secret, code, name=name)
        settings_of_users.set_two_step(session.user, is_on=True)
        reauthentication.check_still_signed_in(session)
        if is_first:
            sessions.end_others(session)
            forgetting.end_remembered(session.user)
        notify(session.user, Notice.FACTOR_ADDED)
        stepped_up = session_proofs.step_up(session, FactorType.TOTP, tenant=tenant)
        renewed = replace(stepped_up, factor_id=added.pk)
    session.user.refresh_from_db(fields=("factors",))
    return renewed


def remove(session: Session, factor_id: str, *, password: str) -> tuple[FactorType, Renewed]:
    """Remove a factor. The user's other browsers are signed out and, with a passkey, all applications.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.SignInAgain: the user has no password and the sign-in is too old, or the session
            ended meanwhile.
        reauthentication.ConfirmNeeded: the user proved the second factor too long ago.
        NoSuchFactor: the user has no factor with this id.
        FactorRequired: a policy demands a second factor, and this is the last one.
        NoWayIn: the user could not sign in any more.

    """
    reauthentication.reauthenticate_for_factors(session, password)
    pk = parse_id(factor_id)
    experience = experiences.current()
    policy = experience.factor_policy
    with transaction.atomic():
        row_locks.lock(session.user)
        reauthentication.check_still_signed_in(session)  # before a passkey ends all sessions
        removed = services.remove(session.user, pk)
        if removed is FactorType.WEBAUTHN and not sign_in_ways.has_way_in(session.user):
            raise NoWayIn
        is_last = not _get_usable(session.user, policy)
        if is_last and demands.is_factor_required(session.user, policy):
            raise FactorRequired
        if removed is not FactorType.WEBAUTHN:
            sessions.end_others(session)
        return removed, session_proofs.renew(session, experience.tenant)


def parse_id(factor_id: str) -> UUID:
    """Return the id of a factor.

    Raises:
        NoSuchFactor: the id is malformed.

    """
    pk = ids.parse(factor_id)
    if pk is None:
        raise NoSuchFactor
    return pk


def renew_backup_codes(session: Session, *, password: str) -> list[str]:
    """Replace the backup codes of the user and return the new ones. The user's other browsers are signed out.

    Raises:
        FactorNotAllowed: the tenant does not use backup codes.
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.ConfirmNeeded: the user proved the second factor too long ago.
        backup_codes.NoOtherFactor: the user has no other factor.

    """
    reauthentication.reauthenticate_for_factors(session, password)
    return backup.renew(session)


def switch_two_step(
    session: Session, *, is_on: bool, password: str, expected: frozenset[int] | None = None
) -> None:
    """Store whether the user is asked for a second factor although no policy asks.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.ConfirmNeeded: the user proved the second factor too long ago.
        FactorRequired: a policy demands a second factor, so it cannot be switched off.
        FactorNotAllowed: the user has no factor that could be asked for.
        Stale: the user has another version now than those in ``expected``.

    """
    policy = experiences.current().factor_policy
    reauthentication.reauthenticate_for_factors(session, password)
    if not is_on and demands.is_factor_required(session.user, policy):
        raise FactorRequired
    if is_on and not _get_usable(session.user, policy):
        raise FactorNotAllowed("two_step: set up a factor first")
    with transaction.atomic():
        settings_of_users.set_two_step(session.user, is_on=is_on, expected=expected)
        reauthentication.check_still_signed_in(session)


def _get_experience(factor: FactorType) -> SignInExperience:
    experience = experiences.current()
    if factor not in experience.factor_policy.factors:
        raise FactorNotAllowed
    return experience


def _get_usable(user: User, policy: Policy) -> list[FactorType]:
    available: AvailableFactors = available_factors.find(user, policy)
    return available.get_usable(policy)
