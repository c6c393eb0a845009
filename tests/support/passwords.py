"""The check of a password by itself, without the sign-in around it."""

from identity.users import credentials, identifiers
from identity.users.models import User


def authenticate(*, identifier: str, password: str) -> User:
    """Return the user as a sign-in with a password finds it."""
    kind, key = identifiers.parse(identifier)
    user = credentials.BY_KEY[kind].first(key=key)
    return credentials.authenticate(user=user, identifier=identifier, password=password)
