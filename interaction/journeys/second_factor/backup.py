"""Backup codes of a signed-in user: shown once, right after the first other factor was set up."""

from django.db import transaction
from django.urls import reverse

from identity.factors import backup_codes, browsers
from identity.factors.errors import FactorNotAllowed
from identity.factors.kinds import FactorType
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.factor_bits import BACKUP_CODE
from identity.users.notices import Notice, notify
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.account import confirmation


def are_on(experience: SignInExperience) -> bool:
    """Return whether the tenant uses backup codes."""
    return FactorType.BACKUP_CODE in experience.factor_policy.factors


def should_offer(session: Session) -> bool:
    """Return whether a user who has just proven a second factor has no backup codes yet."""
    if not confirmation.has_recent_factor(session) or session.user.factors & BACKUP_CODE:
        return False
    return are_on(experiences.current()) and _has_other_factor(session)


def renew(session: Session) -> list[str]:
    """Replace the backup codes of the user and return the new ones. The user's other browsers are signed out.

    Raises:
        FactorNotAllowed: the tenant does not use backup codes.
        confirmation.ConfirmNeeded: the second factor was proven more than five minutes ago.
        backup_codes.NoOtherFactor: the user has no other factor that the tenant uses.

    """
    if not are_on(experiences.current()):
        raise FactorNotAllowed
    confirmation.check_factor(session)
    if not _has_other_factor(session):  # otherwise nothing was confirmed
        raise backup_codes.NoOtherFactor
    with transaction.atomic():
        codes = backup_codes.renew(session.user)
        confirmation.check_still_signed_in(session)
        sessions.end_others(session)
        browsers.end_remembered(session.user)
        notify(session.user, Notice.BACKUP_CODES_MADE)
    return codes


def _has_other_factor(session: Session) -> bool:
    return bool({*confirmation.get_factors(session)} - {FactorType.BACKUP_CODE})


def get_url(interaction: str) -> str:
    """Return the URL of the page that shows the codes. ``interaction`` is the pending request, if any."""
    url = reverse("pages:backup-codes")
    return f"{url}?interaction={interaction}" if interaction else url
