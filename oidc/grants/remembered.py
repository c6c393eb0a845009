"""Sessions, codes and refresh families that began in a remembered browser."""

from identity.factors import remembered_rule
from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants.code_sign_ins import CodeSignIn
from oidc.grants.models import AuthorizationCode, RefreshFamily


def end(user: User) -> None:
    """Stop counting the sessions, codes and families of a user as those of a remembered browser.

    The sessions continue with one factor, which an organization that requires two does not accept. It is not
    stored in which browser a session began, so forgetting one browser has this effect on all sessions.
    """
    # In the order in which ``is_remembered`` locks them. Families are last: if a code is being redeemed
    # concurrently, its family exists then.
    Session.objects.filter(user=user, remembered=True).update(remembered=False)
    AuthorizationCode.objects.filter(user=user, remembered=True, consumed_at=None).update(remembered=False)
    RefreshFamily.objects.filter(user=user, remembered=True).update(remembered=False)


def counts(grant: Session | CodeSignIn | RefreshFamily) -> bool:
    """Return whether a sign-in or family counts as that of a remembered browser, by the policy of now.

    Nothing is read for one that does not say so.
    """
    if not grant.remembered:
        return False
    signed_in_at = grant.created_at if isinstance(grant, RefreshFamily) else grant.signed_in_at
    return remembered_rule.still_counts(grant.user_id, signed_in_at)


def is_remembered(code: AuthorizationCode) -> bool:
    """Return whether a code counts as that of a remembered browser.

    Its session and the code are locked for the transaction. So either this function sees the change of
    ``end``, or ``end`` waits and finds what the transaction inserts.
    """
    codes = AuthorizationCode.objects.select_related("session")
    locked = codes.select_for_update(of=("session", "self"), no_key=True).filter(pk=code.pk).first()
    return locked is not None and CodeSignIn.of_code(locked).remembered
