"""Which linked accounts of a user can sign in now."""

from identity.users.models import User
from interaction.social import services
from interaction.social.models import SocialIdentity
from interaction.social.offers import get_offers


def find_by_user(user: User) -> list[tuple[SocialIdentity, bool]]:
    """Return the linked accounts of a user, the first linked first, and whether each can sign in.

    An account can sign in if an enabled connector leads to its provider.
    """
    linked = services.find_by_user(user)
    offers = get_offers() if linked else []
    return [
        (identity, any(offer.has_accounts_of(identity.provider) for offer in offers)) for identity in linked
    ]


def has_any(user: User) -> bool:
    """Return whether a linked account of a user can sign in."""
    return any(can_sign_in for _, can_sign_in in find_by_user(user))
