"""The browser of a sign-in."""

from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, Subquery
from django.http import HttpRequest

from database import ids
from identity.core.tenant_statements import Select, SelectTogether
from identity.factors import authenticators
from identity.factors.kinds import FactorType
from identity.factors.models import Authenticator
from identity.sessions import cookies
from interaction.experience import services as experiences
from interaction.journeys import pending as pending_requests
from interaction.journeys.pending import Pending
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from interaction.pending_sign_ins.models import PendingSignIn
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest


def _get_request_of_newest() -> QuerySet[AuthorizationRequest]:
    newest = pending_sign_ins.get_live().values("request_id")[:1]
    return requests.get_unexpired().filter(pk=Subquery(newest))[:1]


def _get_authenticators(pending: Select[PendingSignIn]) -> Select[Authenticator]:
    return Select(lambda: authenticators.get_timed(user_id__in=pending.build().values("user_id")))


# What a second step reads, in one statement: for the request that the browser names, or for the newest
# sign-in of the browser.
_FOR_REQUEST: Final = (pending_sign_ins.OF_REQUEST, requests.BY_ID, experiences.CURRENT)
_FOR_NEWEST: Final = (pending_sign_ins.NEWEST, Select(_get_request_of_newest), experiences.CURRENT)
_of_request: Final = SelectTogether(*_FOR_REQUEST)
_of_newest: Final = SelectTogether(*_FOR_NEWEST)
_of_request_with_totp: Final = SelectTogether(*_FOR_REQUEST, _get_authenticators(pending_sign_ins.OF_REQUEST))
_of_newest_with_totp: Final = SelectTogether(*_FOR_NEWEST, _get_authenticators(pending_sign_ins.NEWEST))


def of(request: HttpRequest, pending: Pending | None) -> Visit:
    """Return the browser of a request, with the pending request that its sign-in belongs to."""
    current, known = cookies.current_session(request), cookies.get_known_users(request)
    return Visit(cookies.get_browser(request), pending, current, known, cookies.get_proofs(request))


def without_session(request: HttpRequest, pending: Pending | None) -> Visit:
    """Return the browser of a request for a step that needs no session. The session is not read."""
    return Visit(cookies.get_browser(request), pending, None, proofs=cookies.get_proofs(request))


def find(request: HttpRequest, interaction: str, factor: FactorType | None = None) -> Visit:
    """Return the browser of a second step, with the pending request that its sign-in belongs to.

    Without ``interaction``, that is the request of the browser's newest pending sign-in. ``factor`` is what
    the browser is about to prove, if that is known.

    Raises:
        pending.Expired: the browser has no pending request with this id.

    """
    browser, current = cookies.get_browser(request), cookies.current_session(request)
    known, proofs = cookies.get_known_users(request), cookies.get_proofs(request)
    request_id = ids.parse(interaction)
    if interaction and (request_id is None or not browser):
        raise pending_requests.Expired
    if not browser:
        return Visit(browser, None, current, known, proofs)
    rows = _read(browser, proofs, request_id, is_totp=factor is FactorType.TOTP)
    stored, row, experience, *own = rows[0]
    pending = None
    if row is not None:
        requests.mark_trial(row)
        pending = pending_requests.read(row)
    elif request_id or (stored and stored.request_id):
        raise pending_requests.Expired
    elif not stored:
        pending = pending_requests.find(request, "")
    authenticators_of_user = [each[-1] for each in rows if each[-1] is not None] if own else None
    return Visit(browser, pending, current, known, proofs, stored, experience, authenticators_of_user)


def _read(
    browser: str, proofs: tuple[str, ...], request_id: UUID | None, *, is_totp: bool
) -> list[list[Any]]:
    """Return the pending sign-in, the authorization request and the experience; None for what is missing.

    For a code of an authenticator, return a row with each authenticator of the user.
    """
    if request_id is None:
        return (_of_newest_with_totp if is_totp else _of_newest).all(browser=browser, proofs=proofs)
    statement = _of_request_with_totp if is_totp else _of_request
    return statement.all(browser=browser, proofs=proofs, pk=request_id, request_id=request_id)
