"""Finding the users to whom a profile of a provider may belong."""

from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors.providers.base import Profile
from interaction.experience import new_emails
from interaction.social import same_address


def find_similar(profile: Profile) -> list[User]:
    """Return the users who proved the profile's verified address, or one with the same lookup key.

    Users who never proved the address do not count: see identity.users.ownership.
    """
    if not profile.email_verified:
        return []
    users_with_email = User.objects.filter(email_key__in=same_address.lookup_keys(profile.email))
    return [user for user in users_with_email if user.has_proven(Kind.EMAIL)]


def get_email_of_new_user(profile: Profile) -> str:
    """Return the address that a new user gets from a profile; an empty string for none."""
    return profile.email if profile.email_verified and new_emails.is_allowed(profile.email) else ""
