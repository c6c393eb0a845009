"""Store, find and delete pending authorization requests."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Q, QuerySet
from django.db.models.functions import Now

from audit import context
from database import chains, rows
from database.chains import Chain
from database.statements import Insert
from identity.core.tenant_statements import Delete, JoinedSelects, Select, Update, text, uuid
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions import proof_secrets
from identity.sessions import services as sessions
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import AuthorizationRequest

_LIFETIME: Final = timedelta(hours=1)
_TRIAL_LIFETIME: Final = timedelta(minutes=10)
_MAX_PER_BROWSER: Final = 20
NO_BROWSER: Final = ""  # of a request that no browser has claimed yet, which ``find`` never returns


def _of_browser() -> QuerySet[AuthorizationRequest]:
    return AuthorizationRequest.objects.filter(browser=text("browser")).order_by("-created_at", "-pk")


def get_unexpired() -> QuerySet[AuthorizationRequest]:
    """Return the requests of a browser, with applications, newest first.

    The parameters are ``browser`` and ``proofs``, the hashes of its secrets.
    """
    opened = _of_browser().filter(proof_secrets.opened(), expires_at__gt=Now())
    return opened.select_related("application")


_insert: Final = Insert(AuthorizationRequest, expires_at=Now() + _LIFETIME)
_excess: Final = Select(lambda: _of_browser().only("pk")[_MAX_PER_BROWSER : 2 * _MAX_PER_BROWSER])
NEWEST: Final = Select(lambda: get_unexpired()[:1])
BY_ID: Final = Select(lambda: get_unexpired().filter(pk=uuid("pk"))[:1])
_WITH_SESSION: Final = JoinedSelects(BY_ID, sessions.LIVE)
_RECORD_SIGN_IN: Final = Update(
    lambda: AuthorizationRequest.objects.filter(pk=uuid("pk")),
    session_id=uuid("session_id"),
    signed_in_at=Now(),
    account_chosen_at=Now(),
    consented_at=None,
)
FINISH: Final = Delete(lambda: AuthorizationRequest.objects.filter(pk=uuid("pk")))


def store(  # noqa: PLR0913 - the browser and the request
    *,
    request_id: UUID,
    browser: str,
    is_new: bool,
    application: Application,
    query: str,
    secret_hash: str | None = None,
) -> None:
    """Store a pending request of a browser, and delete the browser's oldest ones beyond twenty.

    ``is_new`` means that the browser has no other requests. ``secret_hash`` is of the secret that it needs to
    go on, if something was proven in it before.

    Raises:
        limits.TooMany: too many from this network.

    """
    request = rows.new(
        AuthorizationRequest,
        pk=request_id,
        browser=browser,
        secret_hash=secret_hash,
        application=application,
        query=query,
    )
    limits.insert_by_network(rules.PARKED_WITHOUT_COOKIE if is_new else rules.PARKED, _insert, request)
    if not is_new:
        _delete_excess(browser)


def claim(request_id: UUID, *, browser: str, secret_hash: str | None) -> bool:
    """Give a request that belongs to no browser to this one. Return false if there is none.

    ``secret_hash`` is as for ``store``.
    """
    unclaimed = AuthorizationRequest.objects.filter(browser=NO_BROWSER, expires_at__gt=Now())
    if not unclaimed.filter(pk=request_id).update(browser=browser, secret_hash=secret_hash):
        return False
    _delete_excess(browser)
    return True


def store_trial(
    *,
    request_id: UUID,
    browser: str,
    application: Application,
    query: str,
    secret_hash: str | None = None,
) -> None:
    """Store the request of an administrator's trial for ten minutes. Only the operators' site calls this.

    Raises:
        limits.TooMany: too many from this network.

    """
    with transaction.atomic():
        limits.hit_by_network(rules.PARKED)
        AuthorizationRequest.objects.create(
            pk=request_id,
            browser=browser,
            secret_hash=secret_hash,
            application=application,
            query=query,
            expires_at=Now() + _TRIAL_LIFETIME,
            is_test=True,
        )
    _delete_excess(browser)


def _delete_excess(browser: str) -> None:
    if stale := _excess.all(browser=browser):
        AuthorizationRequest.objects.filter(pk__in=[row.pk for row in stale]).delete()


def find(
    browser: str, request_id: UUID | None = None, *, proofs: Sequence[str] = ()
) -> AuthorizationRequest | None:
    """Return the pending request of this browser with an id or, without an id, the newest.

    ``proofs`` are the hashes of the secrets that the browser got with its proofs. If the request is an
    administrator's trial, later audit entries of this HTTP request are marked as a trial's.
    """
    if not browser:
        return None
    if request_id is not None:
        found = BY_ID.first(browser=browser, proofs=proofs, pk=request_id)
    else:
        found = NEWEST.first(browser=browser, proofs=proofs)
    if found:
        mark_trial(found)
    return found


def find_with_session(
    browser: str, request_id: UUID, *, proofs: Sequence[str], session_token: str
) -> tuple[AuthorizationRequest | None, Session | None]:
    """Return the pending request of this browser with an id, as ``find``, and the browser's live session.

    ``session_token`` is the secret of the session, or an empty string, which no session has.
    """
    if not browser:
        return None, None
    token_hash = sessions.hash_token(session_token)
    [found] = _WITH_SESSION.all(browser=browser, proofs=proofs, pk=request_id, token_hash=token_hash)
    request, session = found
    if request is None:
        return None, None
    mark_trial(request)
    if session is not None:
        sessions.record_use(session)
    return request, session


def mark_trial(request: AuthorizationRequest) -> None:
    """Mark later audit entries of this HTTP request as a trial's, if the request is one."""
    if request.is_test:
        context.set_trial()


def find_application(browser: str, request_id: UUID, *, proofs: Sequence[str] = ()) -> Application | None:
    """Return the application of a request of this browser, even if the request has expired.

    ``proofs`` are the hashes of the secrets that the browser got with its proofs.
    """
    if not browser:
        return None
    row = (
        AuthorizationRequest.objects.filter(proof_secrets.opened_by(proofs), browser=browser, pk=request_id)
        .select_related("application")
        .first()
    )
    return None if row is None else row.application


def record_sign_in(request: AuthorizationRequest, session: Session, chain: Chain | None = None) -> None:
    """Record that the user signed in for this request. A consent of another user is withdrawn."""
    with chains.joined(chain) as writes:
        writes.add(_RECORD_SIGN_IN, {"pk": request.pk, "session_id": session.pk})


def record_account(request: AuthorizationRequest, session: Session) -> bool:
    """Record that the user chose the account of this session.

    Return false if the request is another session's, or if this session has ended.
    """
    return bool(_of_session(request, session).update(session=session, account_chosen_at=Now()))


def record_shown(request: AuthorizationRequest, shown: dict[str, Any]) -> None:
    """Record what the consent page shows."""
    request.shown = shown
    AuthorizationRequest.objects.filter(pk=request.pk).update(shown=shown)


def record_consent(request: AuthorizationRequest, session: Session) -> bool:
    """Record that this session's user consented.

    Return false if the request is another session's, or if this session has ended. Lock the user's row
    before: then a recovery or a new owner either waits for the consent, or has ended the session.
    """
    return bool(_of_session(request, session).update(session=session, consented_at=Now()))


def _of_session(request: AuthorizationRequest, session: Session) -> QuerySet[AuthorizationRequest]:
    """Return the request unless this session has ended or the request is another's, or another user's."""
    is_live = Exists(Session.objects.live().filter(pk=session.pk))
    return AuthorizationRequest.objects.filter(Q(session=None) | Q(session=session), is_live, pk=request.pk)


def record_wish_declined(request: AuthorizationRequest) -> None:
    """Record that the user continues without the stronger sign-in that the request wishes for."""
    AuthorizationRequest.objects.filter(pk=request.pk).update(wish_declined_at=Now())


def record_cancelled(request: AuthorizationRequest) -> None:
    """Record that the user does not sign in as the request demands. Then ``resume`` returns the error."""
    AuthorizationRequest.objects.filter(pk=request.pk).update(cancelled_at=Now())


def record_language(request: AuthorizationRequest, language: str) -> None:
    """Record the language that the user chose."""
    AuthorizationRequest.objects.filter(pk=request.pk).update(language=language)


def finish(request: AuthorizationRequest) -> bool:
    """Delete an answered request. Return false if it was answered before."""
    return bool(FINISH(pk=request.pk))
