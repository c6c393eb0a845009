"""The next step of an authorization request: a page that the user has to see, a code, or an error."""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum, auto
from typing import Final

from database import batching
from identity.organizations import memberships
from identity.sessions.models import Session
from oidc.applications import access, redirect_uris
from oidc.grants.models import AuthorizationRequest
from oidc.provider import id_token_hint
from oidc.provider.authorization import demands, needed_consent
from oidc.provider.authorization.refusals import (
    AccessDenied,
    ConsentRequired,
    InteractionRequired,
    LoginRequired,
    UnknownOrganization,
    UnmetAuthenticationRequirements,
    UserNotAllowed,
)
from oidc.provider.authorization.request import Authorization
from oidc.provider.errors import OAuthError

# How long a sign-in for a request satisfies the request's demand for one: the time for the pages that follow.
_SIGN_IN_LIFETIME: Final = timedelta(minutes=10)


class Step(Enum):
    """The next step of a request. With ``prompt=none``, each of the pages is an error instead."""

    # Pages
    SIGN_IN = auto()
    SELECT_ACCOUNT = auto()
    STEP_UP = auto()  # the user is asked for a further factor
    CONSENT = auto()
    CONFIRM = auto()  # another program could receive the code, so the user confirms the request
    NO_ACCESS = auto()  # the user may not use the application
    # The code
    ISSUE = auto()
    # Errors
    UNMET = auto()  # the user did not sign in as strongly as the request demands
    CANCELLED = auto()  # the same, but the application may not learn of the demand
    OTHER_USER = auto()  # another user has signed in than the request names
    UNKNOWN_ORGANIZATION = auto()  # the user does not belong to the organization that the request names


_REFUSALS: Final[Mapping[Step, type[OAuthError]]] = {
    Step.STEP_UP: InteractionRequired,
    Step.CONSENT: ConsentRequired,
    Step.CONFIRM: InteractionRequired,
    Step.NO_ACCESS: UserNotAllowed,
    Step.UNMET: UnmetAuthenticationRequirements,
    Step.CANCELLED: AccessDenied,
    Step.UNKNOWN_ORGANIZATION: UnknownOrganization,
}


def next_step(
    authorization: Authorization, session: Session | None, pending: AuthorizationRequest | None
) -> Step:
    """Return the next step of the request.

    ``pending`` has the steps that the user completed for this request. If ``prompt`` demands a step, only
    a step completed for this request counts.
    """
    if pending and pending.cancelled_at:
        return _get_cancelled_step(authorization, session, pending)
    if session is None or (pending and pending.session_id not in {None, session.pk}):
        return Step.SIGN_IN
    if "none" in authorization.prompt:
        return _get_silent_step(authorization, session)
    return _get_interactive_step(authorization, session, pending)


def _get_cancelled_step(
    authorization: Authorization, session: Session | None, pending: AuthorizationRequest
) -> Step:
    """Return the step of a user who did not sign in as the request demands.

    A third party without consent is not told of the demand, which may be that of an organization: otherwise
    it would learn that the user is a member.
    """
    if not authorization.application.is_third_party:
        return Step.UNMET
    if session is None or pending.session_id not in {None, session.pk}:
        return Step.CANCELLED
    return Step.CANCELLED if needed_consent.must_consent(session, authorization, pending) else Step.UNMET


def get_refusal(authorization: Authorization, session: Session | None, step: Step) -> OAuthError:
    """Return the error of a request that gets no code (OpenID Connect Core 3.1.2.6)."""
    if step is Step.CONSENT and is_client_unproven(authorization):
        return InteractionRequired()
    if step in _REFUSALS:
        return _REFUSALS[step]()
    if session is None:
        return LoginRequired("nobody is signed in")
    if step is Step.OTHER_USER:
        return LoginRequired("another user signed in than the request names")
    return LoginRequired()


def names_other_user(authorization: Authorization, session: Session) -> bool:
    """Return whether a pending request names another user than that of the session, or has a forged hint."""
    return _get_step_for_other_user(authorization, session, signed_in=False, is_pending=True) is not None


def _get_interactive_step(
    authorization: Authorization, session: Session, pending: AuthorizationRequest | None
) -> Step:
    """Return the first missing step of a request for which pages may be shown."""
    signed_in = bool(pending and pending.signed_in_at)
    if step := _get_step_for_other_user(
        authorization, session, signed_in=signed_in, is_pending=pending is not None
    ):
        return step
    if not _has_just_signed_in(session, pending) and _must_sign_in_again(session, authorization):
        return Step.SIGN_IN
    if "select_account" in authorization.prompt and not (pending and pending.account_chosen_at):
        return Step.SELECT_ACCOUNT
    if not batching.run(access.may_use(session.user, authorization.application)):
        return Step.NO_ACCESS
    weak = _find_step_of_weak_sign_in(authorization, session, pending)
    return weak if weak is Step.STEP_UP else _get_last_step(authorization, session, pending, weak)


def _find_step_of_weak_sign_in(
    authorization: Authorization, session: Session, pending: AuthorizationRequest | None
) -> Step | None:
    """Return the step of a sign-in that is weaker than the request demands or wishes for, or None."""
    if demands.must_step_up(authorization, session, pending):
        return Step.STEP_UP
    if demands.is_target_met(authorization, session):
        return None
    return Step.UNMET if demands.is_answered(pending) else Step.STEP_UP


def _get_last_step(
    authorization: Authorization, session: Session, pending: AuthorizationRequest | None, weak: Step | None
) -> Step:
    """Return the step of a user who cannot sign in better. ``weak`` is the step of a weak sign-in.

    Consent comes before an answer that names a demand: see ``_get_cancelled_step``.
    """
    if needed_consent.must_consent(session, authorization, pending):
        return Step.CONSENT
    if weak:
        return weak
    return Step.CONFIRM if _must_confirm(authorization, pending) else _get_result(authorization, session)


def _get_result(authorization: Authorization, session: Session) -> Step:
    """Return ``ISSUE``, or ``UNKNOWN_ORGANIZATION`` if the user does not belong to the named organization."""
    organization_id = authorization.organization_id
    if organization_id and not batching.run(memberships.find_membership(session.user_id, organization_id)):
        return Step.UNKNOWN_ORGANIZATION
    return Step.ISSUE


def _get_silent_step(authorization: Authorization, session: Session) -> Step:
    """Return the first missing step of a request with ``prompt=none``.

    Consent comes first. Otherwise an application without consent could find out who is signed in and since
    when, by sending hints, values of ``sub`` and values of ``max_age``; and who has a role or is a member of
    an organization, by allowing only these.
    """
    if needed_consent.must_consent(session, authorization, None):
        return Step.CONSENT
    if step := _get_step_for_other_user(authorization, session, signed_in=False, is_pending=False):
        return step
    if _must_sign_in_again(session, authorization):
        return Step.SIGN_IN
    if not batching.run(access.may_use(session.user, authorization.application)):
        return Step.NO_ACCESS
    if _find_step_of_weak_sign_in(authorization, session, None):
        return Step.STEP_UP
    return Step.CONFIRM if is_client_unproven(authorization) else _get_result(authorization, session)


def _get_step_for_other_user(
    authorization: Authorization, session: Session, *, signed_in: bool, is_pending: bool
) -> Step | None:
    """Return the step for a request that names another user than that of the session, otherwise None.

    OpenID Connect Core 3.1.2.2: the server MUST NOT reply for a different user, even one with
    an active session. A hint or a value of ``sub`` names the user.
    """
    subjects = authorization.claims.subjects
    if subjects is not None and str(session.user_id) not in subjects:
        return Step.OTHER_USER if signed_in else Step.SIGN_IN
    hint = authorization.id_token_hint
    return _get_step_for_hint(hint, session, signed_in=signed_in, is_stored=is_pending) if hint else None


def _get_step_for_hint(hint: str, session: Session, *, signed_in: bool, is_stored: bool) -> Step | None:
    """Return the step for a hint that does not name the user of the session, otherwise None.

    OpenID Connect Core 3.1.2.1: if another user signs in, the response is an error. A forged hint names no
    user, so any sign-in satisfies it.
    """
    try:
        subject = id_token_hint.get_subject(hint, is_stored=is_stored)
    except id_token_hint.Forged:
        return None if signed_in else Step.SIGN_IN
    if subject == str(session.user_id):
        return None
    return Step.OTHER_USER if signed_in else Step.SIGN_IN


def _has_just_signed_in(session: Session, pending: AuthorizationRequest | None) -> bool:
    """Return whether the user signed in for this request so recently that it demands no further sign-in.

    After that time, another person may answer a page that was left open. ``max_age`` may be shorter, and does
    not count meanwhile: no user could complete the pages within ``max_age=1``.
    """
    if pending is None or pending.signed_in_at is None:
        return False
    return session.now - pending.signed_in_at <= _SIGN_IN_LIFETIME


def _must_sign_in_again(session: Session, authorization: Authorization) -> bool:
    if "login" in authorization.prompt or authorization.max_age == 0:
        # Core 3.1.2.1: max_age=0 is equivalent to prompt=login.
        return True
    if authorization.max_age is None:
        return False
    return session.now - session.auth_time > timedelta(seconds=authorization.max_age)


def _must_confirm(authorization: Authorization, pending: AuthorizationRequest | None) -> bool:
    """Return whether the user still has to see a page in this request."""
    if pending and (pending.signed_in_at or pending.account_chosen_at or pending.consented_at):
        return False
    return is_client_unproven(authorization)


def is_client_unproven(authorization: Authorization) -> bool:
    """Return whether another program than the application could receive the code.

    RFC 8252 section 8.6: such a request must not be processed without the user (decision N9).
    """
    return not authorization.application.must_present_secret and redirect_uris.is_unproven(
        authorization.redirect_uri
    )
