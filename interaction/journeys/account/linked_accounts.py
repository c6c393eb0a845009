"""The accounts at other providers that a user signs in with."""

from django.db import transaction

from database import ids
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users import row_locks
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.journeys.second_factor import reauthentication, session_proofs
from interaction.journeys.second_factor.session_proofs import Renewed
from interaction.journeys.social import linking
from interaction.social import offers
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from interaction.social.offers import Offer


def get_linked_accounts(user: User) -> list[SocialIdentity]:
    """Return the linked accounts of a user, the first linked first."""
    return identities.find_by_user(user)


def get_offers() -> list[Offer]:
    """Return the providers whose accounts can be linked."""
    return [offer for offer in offers.get_offers() if offer.provider is not None]


def must_sign_in_again(session: Session) -> bool:
    """Return whether the user has to sign in again before linking an account."""
    return linking.must_sign_in_again(session)


def begin_link(session: Session, *, connector_id: str, browser: str) -> str:
    """Start linking an account at a provider; return the URL of the provider.

    Raises:
        reauthentication.SignInAgain: the sign-in is more than ``CONFIRM_SECONDS`` ago.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        NotOffered: no such connector is enabled, or its provider cannot be used.
        ProviderFailed: the provider's endpoints cannot be discovered.
        Busy: too many requests are waiting for providers.

    """
    reauthentication.check_factor(session)  # the linked account may sign in without a second factor
    return linking.begin_link(connector_id=connector_id, browser=browser, session=session)


def unlink(session: Session, identity_id: str) -> Renewed:
    """Unlink an account by its id, which may be any text, and end the user's other sessions and all tokens.

    Return this browser's session, which continues.

    Raises:
        Gone: the user has no such account, or the id is not valid.
        identities.LastSignInMethod: without this account the user could not sign in any more.
        reauthentication.SignInAgain: the session ended meanwhile.

    """
    pk = ids.parse(identity_id)
    if pk is None:
        raise Gone
    with transaction.atomic():
        # With the lock, a concurrent new password or sign-out everywhere waits or is visible here. Otherwise
        # ``renew`` could revive a session that ended.
        row_locks.lock(session.user)
        reauthentication.check_still_signed_in(session)
        identities.unlink(session.user, pk)
        return session_proofs.renew(session, experiences.current().tenant)
