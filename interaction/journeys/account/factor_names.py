"""The names of a signed-in user's passkeys and authenticators."""

from django.db import transaction

from identity.factors import services
from identity.factors.services import StoredFactor
from identity.sessions.models import Session
from interaction.journeys.account.factors import parse_id
from interaction.journeys.second_factor import reauthentication


def find(session: Session, factor_id: str) -> StoredFactor:
    """Return a factor of the user that has a name.

    Raises:
        NoSuchFactor: the user has no such factor with this id.

    """
    return services.find_named(session.user, parse_id(factor_id))


def rename(session: Session, factor_id: str, *, name: str, password: str) -> None:
    """Give a passkey or an authenticator of the user another name.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        reauthentication.ConfirmNeeded: the user proved the second factor too long ago.
        NoSuchFactor: the user has no such factor with this id.

    """
    reauthentication.reauthenticate_for_factors(session, password)
    with transaction.atomic():
        services.rename(session.user, parse_id(factor_id), name)
        reauthentication.check_still_signed_in(session)
