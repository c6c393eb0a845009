"""The accounts elsewhere that a person signs in with."""

from database import ids
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys import social as journey
from interaction.social import offered
from interaction.social import services as identities
from interaction.social.models import SocialIdentity
from interaction.social.offered import Offer


def of(user: User) -> list[SocialIdentity]:
    """Return the accounts that are linked, the first linked first."""
    return identities.of(user)


def offers() -> list[Offer]:
    """Return the providers whose accounts can be linked here."""
    return [offer for offer in offered.all_of_them() if offer.provider is not None]


def begin(session: Session, *, connector_id: str, browser: str) -> str:
    """Send a person to a provider to link an account there; return the address.

    Raises:
        journey.SignInAgain: the sign-in is more than ten minutes ago.
        offered.NotOffered: there is no such connector, or nothing behind it.
        journey.ProviderFailed: the provider does not say where to go.
        journey.Busy: too many people wait for providers.

    """
    return journey.begin_link(connector_id=connector_id, browser=browser, session=session)


def unlink(user: User, identity_id: str) -> None:
    """Take a linked account away, by its id as a client sent it.

    Raises:
        Gone: the person has no such account (any more), or it is no id at all.
        identities.LastWayIn: without it nothing would let the person in.

    """
    pk = ids.parse(identity_id)
    if pk is None:
        raise Gone
    identities.unlink(user, pk)
