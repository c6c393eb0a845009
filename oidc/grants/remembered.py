"""Sessions and refresh families that began in a remembered browser."""

from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants.models import RefreshFamily


def end(user: User) -> None:
    """Let sessions and families of a user no longer count as those of a remembered browser.

    They live on with one factor, which an organization that requires two does not accept. Which browser they
    began in is not stored, so that forgetting one ends it for all of the user.
    """
    Session.objects.filter(user=user, remembered=True).update(remembered=False)
    RefreshFamily.objects.filter(user=user, remembered=True).update(remembered=False)
