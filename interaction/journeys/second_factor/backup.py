"""Backup codes of a signed-in user: shown once, after another factor was set up or when few are left."""

from dataclasses import replace

from django.db import transaction
from django.utils import timezone

from identity.factors import backup_codes, forgetting
from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.factor_bits import BACKUP_CODE
from identity.users.notices import Notice, notify
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.pending import Pending, page_url
from interaction.journeys.second_factor import reauthentication
from interaction.journeys.second_factor.sign_ins import SignInResult, Visit


def are_on(experience: SignInExperience) -> bool:
    """Return whether the tenant uses backup codes."""
    return FactorType.BACKUP_CODE in experience.factor_policy.factors


def should_offer(session: Session) -> bool:
    """Return whether the next page creates backup codes: the user needs some, and has just proven a factor.

    Users need codes after they set up a factor and have none, and after they used a code and have few left.
    A user with a password must have signed in or entered it within ``CONFIRM_SECONDS``, too.
    """
    if not reauthentication.has_recent_factor(session):
        return False
    experience = experiences.current()
    return are_on(experience) and _has_other_factor(session, experience) and _are_due(session)


def has_codes(session: Session) -> bool:
    """Return whether the user has unused backup codes."""
    return bool(session.user.factors & BACKUP_CODE)


def redirect_to_codes(result: SignInResult, visit: Visit) -> SignInResult:
    """Return the result of a sign-in, with the page that creates backup codes as the next one."""
    return replace(result, redirect_to=get_url(visit.pending))


def renew_if_due(session: Session) -> list[str]:
    """Replace the backup codes of the user as the next step of a sign-in, and return the new ones.

    The user's other browsers are signed out.

    Raises:
        FactorNotAllowed: the tenant does not use backup codes, or it is not the next step: see
            ``should_offer``.
        reauthentication.ConfirmNeeded: the second factor was proven more than ``CONFIRM_SECONDS`` ago.
        backup_codes.NoOtherFactor: the user has no other factor that the tenant uses.

    """
    _check_possible(session)
    if not _are_due(session):
        raise FactorNotAllowed("backup codes are not the next step of this sign-in")
    return _renew(session)


def renew(session: Session) -> list[str]:
    """Replace the backup codes of the user and return the new ones. The user's other browsers are signed out.

    The caller has checked the password: see ``reauthentication.reauthenticate_for_factors``.

    Raises:
        FactorNotAllowed: the tenant does not use backup codes.
        reauthentication.ConfirmNeeded: the second factor was proven more than ``CONFIRM_SECONDS`` ago.
        backup_codes.NoOtherFactor: the user has no other factor that the tenant uses.

    """
    _check_possible(session)
    return _renew(session)


def _are_due(session: Session) -> bool:
    if reauthentication.must_enter_password(session) and not reauthentication.has_just_signed_in(session):
        return False
    return backup_codes.are_due(session.user, since=timezone.now() - reauthentication.RECENT)


def _check_possible(session: Session) -> None:
    experience = experiences.current()
    if not are_on(experience):
        raise FactorNotAllowed
    reauthentication.check_factor(session)
    # Without another factor, ``check_factor`` confirms nothing.
    if not _has_other_factor(session, experience):
        raise backup_codes.NoOtherFactor


def _renew(session: Session) -> list[str]:
    with transaction.atomic():
        codes = backup_codes.renew(session.user)
        reauthentication.check_still_signed_in(session)
        sessions.end_others(session)
        forgetting.end_remembered(session.user)
        notify(session.user, Notice.BACKUP_CODES_MADE)
    return codes


def _has_other_factor(session: Session, experience: SignInExperience) -> bool:
    return bool({*reauthentication.get_factors(session, experience.factor_policy)} - {FactorType.BACKUP_CODE})


def get_url(pending: Pending | None) -> str:
    """Return the URL of the page that shows the codes, for a pending request."""
    return page_url("pages:backup-codes", pending)
