"""Authorization requests that wait for a person: parked, found again, done with."""

from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from database.statements import Insert
from identity.core.tenant_statements import Delete, Select, Update, text, uuid
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationRequest

_LIFETIME: Final = timedelta(hours=1)
_MOST_PER_BROWSER: Final = 20


def _of_browser() -> QuerySet[AuthorizationRequest]:
    return AuthorizationRequest.objects.filter(browser=text("browser")).order_by("-created_at", "-pk")


def _waiting() -> QuerySet[AuthorizationRequest]:
    return _of_browser().filter(expires_at__gt=Now()).select_related("application")


_insert: Final = Insert(AuthorizationRequest, expires_at=Now() + _LIFETIME)
_beyond_the_most: Final = Select(lambda: _of_browser().only("pk")[_MOST_PER_BROWSER : 2 * _MOST_PER_BROWSER])
_newest: Final = Select(lambda: _waiting()[:1])
_named: Final = Select(lambda: _waiting().filter(pk=uuid("pk"))[:1])
_signed_in: Final = Update(
    lambda: AuthorizationRequest.objects.filter(pk=uuid("pk")),
    session_id=uuid("session_id"),
    signed_in_at=Now(),
    account_chosen_at=Now(),
    consented_at=None,
)
FINISH: Final = Delete(lambda: AuthorizationRequest.objects.filter(pk=uuid("pk")))


def park(*, request_id: UUID, browser: str, is_new: bool, application: Application, query: str) -> None:
    """Keep a request for a browser, and drop the oldest beyond twenty, which one that ``is_new`` has not.

    Raises:
        limits.TooMany: too many from this address.

    """
    request = AuthorizationRequest(pk=request_id, browser=browser, application=application, query=query)
    limit = rules.PARKED_WITHOUT_COOKIE if is_new else rules.PARKED
    limits.hit_and_insert(limit, limits.client_network(), _insert, request)
    if not is_new and (stale := _beyond_the_most.all(browser=browser)):
        AuthorizationRequest.objects.filter(pk__in=[row.pk for row in stale]).delete()


def find(browser: str, request_id: UUID | None = None) -> AuthorizationRequest | None:
    """Return that request of this browser, or its newest when none is named."""
    if not browser:
        return None
    if request_id is not None:
        return _named.first(browser=browser, pk=request_id)
    return _newest.first(browser=browser)


def note_sign_in(request: AuthorizationRequest, session: Session) -> None:
    """Remember that the person signed in for this request; what another agreed to is void."""
    statement, values = noting_sign_in(request, session)
    statement(**values)


def noting_sign_in(request: AuthorizationRequest, session: Session) -> tuple[Update, dict[str, UUID]]:
    """Return the update of ``note_sign_in`` and its values, to be made part of a larger statement."""
    return _signed_in, {"pk": request.pk, "session_id": session.pk}


def note_account(request: AuthorizationRequest, session: Session) -> bool:
    """Remember that the person chose the account of this session. See ``_unclaimed``."""
    return bool(_unclaimed(request, session).update(session=session, account_chosen_at=Now()))


def note_shown(request: AuthorizationRequest, shown: dict[str, Any]) -> None:
    """Remember what the consent page shows."""
    request.shown = shown
    AuthorizationRequest.objects.filter(pk=request.pk).update(shown=shown)


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
    return bool(FINISH(pk=request.pk))
