"""Whether the user of a code or refresh token may still use the application."""

from database.batching import Work
from identity.users.models import User
from oidc.applications import access
from oidc.applications.models import Application
from oidc.provider.errors import InvalidGrant


def check(user: User, application: Application) -> Work[None]:
    """Check that the user may use the application, before the code or refresh token is used up.

    Raises:
        InvalidGrant: the user lost the role or organization that the application requires (decision Q12).

    """
    if not (yield from access.may_use(user, application)):
        raise InvalidGrant("The user may not use this application.")
