"""What stands between an authorization request and its answer: sign in, choose, agree."""

from datetime import timedelta
from enum import Enum, auto

from django.utils import timezone

from identity.sessions.models import Session
from identity.users.models import User
from oidc.applications import redirect_uris
from oidc.grants import consents
from oidc.grants.consents import ConsentRequest
from oidc.grants.models import AuthorizationRequest
from oidc.provider import id_token_hint, target
from oidc.provider.authorization.request import Authorization


class Step(Enum):
    """What has to happen next."""

    SIGN_IN = auto()
    SELECT_ACCOUNT = auto()
    CONSENT = auto()
    CONFIRM = auto()
    ISSUE = auto()
    REFUSE = auto()


def next_step(asked: Authorization, session: Session | None, parked: AuthorizationRequest | None) -> Step:
    """Return the next step of the request.

    ``parked`` records the steps that the user completed for this request. If the request demands a
    step with ``prompt``, one completed for another request does not count.
    """
    if session is None or (parked and parked.session_id not in {None, session.pk}):
        return Step.SIGN_IN
    return _silent_step(asked, session) if "none" in asked.prompt else _shown_step(asked, session, parked)


def _shown_step(asked: Authorization, session: Session, parked: AuthorizationRequest | None) -> Step:
    """Return the first step that is missing of a request that pages may be shown for."""
    signed_in = bool(parked and parked.signed_in_at)
    if step := _step_for_somebody_else(asked, session, signed_in=signed_in, is_parked=parked is not None):
        return step
    if not signed_in and _must_sign_in_again(session, asked):
        return Step.SIGN_IN
    if "select_account" in asked.prompt and not (parked and parked.account_chosen_at):
        return Step.SELECT_ACCOUNT
    if _must_consent(session, asked, parked):
        return Step.CONSENT
    return Step.CONFIRM if _must_confirm(asked, parked) else Step.ISSUE


def _silent_step(asked: Authorization, session: Session) -> Step:
    """Return what a request needs that no page may answer.

    Consent comes first. Without it, an application learns from the refusal neither who is signed in nor
    since when: a hint, a value of ``sub`` and ``max_age`` would each be a question.
    """
    if _must_consent(session, asked, None):
        return Step.CONSENT
    if step := _step_for_somebody_else(asked, session, signed_in=False, is_parked=False):
        return step
    if _must_sign_in_again(session, asked):
        return Step.SIGN_IN
    return Step.CONFIRM if is_unproven(asked) else Step.ISSUE


def _step_for_somebody_else(
    asked: Authorization, session: Session, *, signed_in: bool, is_parked: bool
) -> Step | None:
    """Return what to do when other people are meant than the one who is here.

    OpenID Connect Core 3.1.2.2: the server MUST NOT reply for a different user, even one with
    an active session, whether a hint or a value of ``sub`` says who is meant.
    """
    subjects = asked.claims.subjects
    if subjects is not None and str(session.user_id) not in subjects:
        return Step.REFUSE if signed_in else Step.SIGN_IN
    hint = asked.id_token_hint
    return _step_for_hint(hint, session, signed_in=signed_in, is_stored=is_parked) if hint else None


def _step_for_hint(hint: str, session: Session, *, signed_in: bool, is_stored: bool) -> Step | None:
    """Return what a hint at another person asks for; nothing when it is the one who is here.

    OpenID Connect Core 3.1.2.1: when another user signs in, the answer is an error. A text that
    is not one of our ID tokens names no user: then the user is asked to sign in once.
    """
    try:
        hinted = id_token_hint.get_subject(hint, is_stored=is_stored)
    except id_token_hint.Forged:
        return None if signed_in else Step.SIGN_IN
    if hinted == str(session.user_id):
        return None
    return Step.REFUSE if signed_in else Step.SIGN_IN


def _must_sign_in_again(session: Session, asked: Authorization) -> bool:
    if "login" in asked.prompt or asked.max_age == 0:
        # Core 3.1.2.1: max_age=0 is equivalent to prompt=login.
        return True
    if asked.max_age is None:
        return False
    return timezone.now() - session.auth_time > timedelta(seconds=asked.max_age)


def _must_consent(session: Session, asked: Authorization, parked: AuthorizationRequest | None) -> bool:
    application = asked.application
    is_asked = bool(parked and parked.consented_at)
    if "consent" in asked.prompt and not is_asked:
        return True
    if not application.is_third_party:
        return False
    if not is_asked and not application.must_present_secret and not asked.redirect_uri.startswith("https:"):
        # RFC 8252 section 8.6: another program may have taken the scheme or the port, so that
        # what was agreed to before does not count.
        return True
    consented = consents.find(session.user_id, application.pk)
    if is_asked:
        # After the page, what came since it was shown is not granted, and not asked for again.
        return not consents.covers(consented, ConsentRequest(_identity(asked)))
    if asked.organization_id and not consents.has_organization(consented, asked.organization_id):
        # Whether or not the user belongs to it: the answer would say so.
        return True
    return not consents.covers(consented, get_wanted(session.user, asked))


def _must_confirm(asked: Authorization, parked: AuthorizationRequest | None) -> bool:
    """Tell whether the person has to see a page in this request, and saw none yet."""
    if parked and (parked.signed_in_at or parked.account_chosen_at or parked.consented_at):
        return False
    return is_unproven(asked)


def is_unproven(asked: Authorization) -> bool:
    """Tell whether nothing proves which program gets the code.

    RFC 8252 section 8.6: such a request is not to be processed automatically (decision N9).
    """
    return not asked.application.must_present_secret and redirect_uris.is_unproven(asked.redirect_uri)


def get_wanted(user: User, asked: Authorization) -> ConsentRequest:
    """Return all that the user would agree to: of identity, for single claims, and what roles add."""
    return target.build_consent_request(
        user,
        _identity(asked),
        list(asked.further_scopes),
        resource=asked.resource,
        organization_id=asked.organization_id,
    )


def _identity(asked: Authorization) -> tuple[str, ...]:
    return *asked.scopes, *asked.claims.scopes_beyond(asked.scopes)
