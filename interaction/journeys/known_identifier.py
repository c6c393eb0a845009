"""The identifier of the signed-in user, to prefill a new sign-in (``prompt=login`` and ``max_age``)."""

from identity.sessions.models import Session
from identity.users import identifiers
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.pending import Pending
from oidc.provider.authorization import steps


def find_identifier(session: Session, pending: Pending, experience: SignInExperience) -> str:
    """Return the identifier with which the user of the session signs in again for a request.

    The identifier is empty if the request names another user, or the user cannot sign in with a password.
    """
    user = session.user
    if not user.password or steps.names_other_user(pending.authorization, session):
        return ""
    hint = pending.authorization.login_hint
    if hint and not is_identifier_of(user, hint):
        return ""
    offered = (getattr(user, kind) for kind in Kind if experience.can_use_password(kind))
    return str(next((identifier for identifier in offered if identifier), ""))


def is_identifier_of(user: User, typed: str) -> bool:
    """Return whether the text is the user's username, email or phone, in any spelling."""
    kind, key = identifiers.parse(typed)
    return bool(getattr(user, f"{kind}_key") == key)
