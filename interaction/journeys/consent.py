"""Showing what an application requests, and recording the user's consent or refusal."""

import hashlib
import json

from django.db import transaction

from identity.sessions.models import Session
from identity.users import row_locks
from interaction.journeys.pending import Pending
from oidc.grants import consents, requests
from oidc.grants.consents import ConsentRequest
from oidc.provider.authorization import needed_consent, steps
from oidc.provider.authorization.refusals import AccessDenied
from oidc.provider.authorization.response import ClientResponse
from oidc.provider.authorization.steps import Step


def is_asked(session: Session, pending: Pending) -> bool:
    """Return whether the user has to consent, and nothing else has to come first."""
    return steps.next_step(pending.authorization, session, pending.row) is Step.CONSENT


def may_deny(session: Session, pending: Pending) -> bool:
    """Return whether the user may refuse what was shown: also if the sign-in has become too old to agree."""
    step = steps.next_step(pending.authorization, session, pending.row)
    return step is Step.CONSENT or (step is Step.SIGN_IN and pending.row.signed_in_at is not None)


def record_shown(session: Session, pending: Pending) -> ConsentRequest:
    """Return what the application requests, and record that the page shows it to this user."""
    consent_request = needed_consent.build_request(session.user, pending.authorization)
    shown = consent_request.to_json() | {"user_id": str(session.user_id)}
    if shown != pending.row.shown:
        requests.record_shown(pending.row, shown)
    return consent_request


def shown_digest(pending: Pending) -> str:
    """Return a digest of what the consent page last showed, or an empty string if it has shown nothing."""
    if pending.row.shown is None:
        return ""
    text = json.dumps(pending.row.shown, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_current(session: Session, pending: Pending, digest: str) -> bool:
    """Return whether the digest is that of the page that was shown last, and this user saw that page."""
    shown = pending.row.shown
    if shown is None or shown.get("user_id") != str(session.user_id):
        return False
    return digest == shown_digest(pending)


@transaction.atomic
def allow(session: Session, pending: Pending) -> str:
    """Store the user's consent to what was shown, if the session is still live; return the URL that resumes.

    While the page was shown, the account may have got its owner back, which ended sessions and consents.
    """
    row_locks.lock(session.user)  # a change of the owner locks it too
    shown = pending.row.shown
    if shown is not None and requests.record_consent(pending.row, session):
        # What was shown may no longer be grantable, and what is grantable may not have been shown.
        consent_request = needed_consent.build_request(session.user, pending.authorization)
        consents.grant(session.user, pending.application, consent_request.limited_to(shown))
    return pending.resume_url


def deny(pending: Pending) -> ClientResponse:
    """End the request; return the response with the error ``access_denied``."""
    requests.finish(pending.row)
    return pending.authorization.build_error_response(AccessDenied())
