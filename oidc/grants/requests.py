"""Authorization requests that wait for a person: parked, found again, done with."""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationRequest

_LIFETIME: Final = timedelta(hours=1)
_MOST_PER_BROWSER: Final = 20


@transaction.atomic
def park(*, request_id: UUID, browser: str, application: Application, query: str) -> AuthorizationRequest:
    """Keep a request for a browser, and drop the oldest beyond twenty."""
    excess = AuthorizationRequest.objects.filter(browser=browser).order_by("-created_at", "-pk")
    stale = list(excess.values_list("pk", flat=True)[_MOST_PER_BROWSER - 1 :])
    if stale:
        AuthorizationRequest.objects.filter(pk__in=stale).delete()
    return AuthorizationRequest.objects.create(
        pk=request_id,
        browser=browser,
        application=application,
        query=query,
        expires_at=timezone.now() + _LIFETIME,
    )


def find(browser: str, request_id: UUID | None = None) -> AuthorizationRequest | None:
    """Return that request of this browser, or its newest when none is named."""
    if not browser:
        return None
    waiting = AuthorizationRequest.objects.filter(browser=browser, expires_at__gt=Now())
    if request_id is not None:
        waiting = waiting.filter(pk=request_id)
    return waiting.select_related("application").order_by("-created_at", "-pk").first()


def note_sign_in(request: AuthorizationRequest, session: Session) -> None:
    """Remember that the person signed in for this request; what another agreed to is void."""
    AuthorizationRequest.objects.filter(pk=request.pk).update(
        session=session, signed_in_at=Now(), account_chosen_at=Now(), consented_at=None
    )


def note_account(request: AuthorizationRequest, session: Session) -> bool:
    """Remember that the person chose the account of this session. See ``_unclaimed``."""
    return bool(_unclaimed(request, session).update(session=session, account_chosen_at=Now()))


def note_consent(request: AuthorizationRequest, session: Session) -> bool:
    """Remember that the person was asked, in this session, and agreed. See ``_unclaimed``."""
    return bool(_unclaimed(request, session).update(session=session, consented_at=Now()))


def _unclaimed(request: AuthorizationRequest, session: Session) -> QuerySet[AuthorizationRequest]:
    """Return the request unless somebody acted for it in another session: people are never mixed."""
    return AuthorizationRequest.objects.filter(Q(session=None) | Q(session=session), pk=request.pk)


def note_language(request: AuthorizationRequest, language: str) -> None:
    """Remember which language the person wants its pages in."""
    AuthorizationRequest.objects.filter(pk=request.pk).update(language=language)


def finish(request: AuthorizationRequest) -> bool:
    """Forget a request that was answered; false when it was answered before."""
    deleted, _ = AuthorizationRequest.objects.filter(pk=request.pk).delete()
    return bool(deleted)
