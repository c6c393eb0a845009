"""Sessions and refresh families that began in a remembered browser."""

from uuid import UUID

from identity.factors import remembered_rule
from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants.models import RefreshFamily


def end(user: User) -> None:
    """Stop counting the sessions and families of a user as those of a remembered browser.

    The sessions continue with one factor, which an organization that requires two does not accept. It is not
    stored in which browser a session began, so forgetting one browser has this effect on all sessions.
    """
    Session.objects.filter(user=user, remembered=True).update(remembered=False)
    RefreshFamily.objects.filter(user=user, remembered=True).update(remembered=False)


def counts(grant: Session | RefreshFamily) -> bool:
    """Return whether a session or family counts as that of a remembered browser, by the policy of now.

    Nothing is read for one that does not say so.
    """
    signed_in_at = grant.updated_at if isinstance(grant, Session) else grant.created_at
    return grant.remembered and remembered_rule.still_counts(grant.user_id, signed_in_at)


def is_remembered(session_id: UUID) -> bool:
    """Return whether a session counts as that of a remembered browser, and lock its row for the transaction.

    ``end`` changes the session first. So either this function sees the change, or ``end`` waits and finds
    what the transaction inserts.
    """
    session = Session.objects.select_for_update(no_key=True).filter(pk=session_id)
    return bool(session.values_list("remembered", flat=True).first())
