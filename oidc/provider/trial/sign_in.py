"""Beginning and finishing a trial of the sign-in to an application.

A trial is stored with ``shown_once``, encrypted, for ten minutes. Only the administrator's session that began
a trial can read it, for the same tenant and application. A trial is deleted when the browser returns. The
authorization request of a trial is a pending request with ``is_test``.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from identity.core import tenancy
from identity.core.errors import ServiceError
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.submissions import shown_once
from identity.submissions.shown_once import Viewer
from oidc.applications.models import Application
from oidc.grants import requests
from oidc.keys.models import SigningKey
from oidc.provider import parameters
from oidc.provider.authorization.request import to_stored, validate
from oidc.provider.authorization.response import Refused
from oidc.provider.errors import OAuthError, Unanswerable
from oidc.provider.trial import callback, exchange, report
from oidc.provider.trial.exchange import Received, TrialSecrets

_LIFETIME: Final = timedelta(minutes=10)
_PARTS: Final = 2


class TrialExpired(ServiceError):
    """The answer belongs to no trial that this session began for this application."""

    reason = "trial_expired"
    message = gettext_noop(
        "this trial was finished before, took longer than ten minutes, or was started in another browser, "
        "tenant or session: try again"
    )


class TrialFailed(ServiceError):
    """No tokens were issued. The reason is the error that the application would get."""

    def __init__(self, code: str, description: str) -> None:
        self.reason = code  # type: ignore[misc]  # each error of OAuth has its own
        super().__init__(description or code)
        self.audit_facts = {"description": description} if description else {}


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """The parameters of the authorization response."""

    code: str = ""
    error: str = ""
    description: str = ""
    iss: str = ""


def begin(
    application: Application,
    viewer: Viewer,
    *,
    browser: str,
    asked: dict[str, str],
    secret_hash: str | None = None,
) -> str:
    """Store a trial and its pending request for a browser, and return the path where the sign-in begins.

    ``asked`` has further parameters of the authorization request. ``secret_hash`` is of the secret that the
    browser needs to go on, if something was proven in it before.

    Raises:
        TrialFailed: the application could not send this request.
        limits.TooMany: too many requests are pending in this network.

    """
    now = timezone.now()
    state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
    known = TrialSecrets(state, nonce, verifier, now)
    content = [known.state, known.nonce, known.verifier, now.isoformat()]
    trial = shown_once.create(viewer, _get_page(application), content, lifetime=_LIFETIME)
    request_id = ids.new()
    try:
        sent = parameters.decode(urlencode(_build_request(application, trial, known) | asked))
        validate(sent, application=application, is_trial=True)
        requests.store_trial(
            request_id=request_id,
            browser=browser,
            application=application,
            query=to_stored(sent),
            secret_hash=secret_hash,
        )
    except (Refused, Unanswerable, ServiceError) as error:
        shown_once.discard(viewer, trial)
        if isinstance(error, ServiceError):
            raise
        raise _explain(error) from None
    return tenancy.active().prefix + reverse("oidc:resume", args=[request_id])


def _build_request(application: Application, trial: UUID, known: TrialSecrets) -> dict[str, str]:
    return {
        "client_id": application.client_id,
        "redirect_uri": callback.get_uri(application),
        "response_type": "code",
        "state": f"{trial}.{known.state}",
        "nonce": known.nonce,
        "code_challenge": known.challenge,
        "code_challenge_method": "S256",
    }


def _explain(error: Refused | Unanswerable) -> TrialFailed:
    if isinstance(error, Refused):
        sent = error.response.parameters
        return TrialFailed(sent["error"], sent.get("error_description", ""))
    return TrialFailed("invalid_request", str(error))


def finish(
    application: Application,
    viewer: Viewer,
    *,
    state: str,
    answer: AuthorizationResponse,
    session: Session | None,
) -> dict[str, Any]:
    """End a trial, and return a report of what the application would get, or why it would get nothing.

    ``session`` is the browser's session of a user. If the trial started it, it ends.

    Raises:
        TrialExpired: the answer belongs to no trial of this session and application.

    """
    known = _take(application, viewer, state)
    if known is None:
        raise TrialExpired
    received, failure = Received(), None
    facts: dict[str, object] = {"id": str(application.pk), "kind": "sign_in"}
    try:
        with log.attempt(Event.APPLICATION_TRIAL, **facts) as attempt:
            attempt.application_id = application.pk
            attempt.user_id = session.user_id if session else None
            _redeem(application, answer, known, received)
    except TrialFailed as error:
        failure = error
    is_ended = _end_new(session, known.begun_at)
    return report.build(application, received, failure, session, is_session_ended=is_ended)


def _redeem(
    application: Application, answer: AuthorizationResponse, known: TrialSecrets, received: Received
) -> None:
    """Redeem the code of an answer.

    Raises:
        TrialFailed: the answer has an error or no code, or an application would get no tokens for its code.

    """
    if answer.iss != tenancy.active().issuer:
        # RFC 9207 section 2.4: the client MUST reject the response.
        raise TrialFailed(
            "invalid_request", gettext_noop("the issuer of the answer is not that of the tenant")
        )
    if answer.error or not answer.code:
        raise TrialFailed(
            answer.error or "invalid_request", answer.description or gettext_noop("the answer has no code")
        )
    try:
        exchange.redeem(application, answer.code, known, received)
    except OAuthError as error:
        raise TrialFailed(error.code, error.description) from None
    except SigningKey.DoesNotExist:
        raise TrialFailed(
            "server_error", gettext_noop("the signing key was deleted in the meantime: try again")
        ) from None


def _take(application: Application, viewer: Viewer, state: str) -> TrialSecrets | None:
    """Delete the trial that a state names, and return its secrets, or None if the state is wrong."""
    parts = state.split(".")
    trial = ids.parse(parts[0])
    if len(parts) != _PARTS or trial is None:
        return None
    content = shown_once.take(viewer, _get_page(application), trial)
    if content is None or not secrets.compare_digest(content[0].encode(), parts[1].encode()):
        return None
    _, nonce, verifier, begun_at = content
    return TrialSecrets(parts[1], nonce, verifier, datetime.fromisoformat(begun_at))


def _get_page(application: Application) -> str:
    """Return the name under which a trial is stored. No page has this name, so no page shows a trial."""
    return f"trial of {application.tenant_id}/{application.pk}"


@transaction.atomic
def _end_new(session: Session | None, begun_at: datetime) -> bool:
    """End the browser's session if it is younger than the trial, and return whether it was ended."""
    if session is None or session.created_at < begun_at:
        return False
    sessions.end(session)
    return True
