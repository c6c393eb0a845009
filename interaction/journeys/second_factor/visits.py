"""The browser that makes the second step of a sign-in."""

from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet, Subquery
from django.http import HttpRequest

from database import ids
from identity.core.tenant_statements import Select, SelectTogether
from identity.sessions import cookies
from interaction.experience import services as experiences
from interaction.journeys import pending as pending_requests
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest


def _of_newest() -> QuerySet[AuthorizationRequest]:
    newest = pending_sign_ins.get_newest().values("request_id")[:1]
    return requests.get_unexpired().filter(pk=Subquery(newest))[:1]


# A second step needs all of them, so one statement reads them.
_named: Final = SelectTogether(pending_sign_ins.OF_REQUEST, requests.BY_ID, experiences.CURRENT)
_newest: Final = SelectTogether(pending_sign_ins.NEWEST, Select(_of_newest), experiences.CURRENT)


def find(request: HttpRequest, interaction: str) -> Visit:
    """Return the browser with the pending request that its sign-in belongs to.

    Without ``interaction``, that is the request of the browser's newest pending sign-in.

    Raises:
        pending.Expired: the browser has no pending request with this id.

    """
    browser, current = cookies.get_browser(request), cookies.current_session(request)
    known, request_id = cookies.get_known_users(request), ids.parse(interaction)
    if interaction and (request_id is None or not browser):
        raise pending_requests.Expired
    if not browser:
        return Visit(browser, None, current, known)
    stored, row, experience = _read(browser, request_id)
    if row is not None:
        requests.mark_trial(row)
        pending = pending_requests.read(row)
    elif request_id or (stored and stored.request_id):
        raise pending_requests.Expired
    else:
        pending = None if stored else pending_requests.find(request, "")
    return Visit(browser, pending, current, known, stored, experience)


def _read(browser: str, request_id: UUID | None) -> list[Any]:
    """Return the pending sign-in, the authorization request and the experience; None for what is missing."""
    if request_id is None:
        return _newest.first(browser=browser)
    return _named.first(browser=browser, pk=request_id, request_id=request_id)
