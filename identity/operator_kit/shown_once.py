"""Secrets that a page of the operators' site shows until *Done* is pressed or two minutes have passed.

A form that creates a secret redirects to the page that shows it, so that reloading creates no second one.
"""

from typing import Any, Final
from uuid import UUID

import orjson
from django.http import HttpRequest

from database import ids
from identity.encryption import keyring
from identity.submissions import shown_once
from identity.submissions.shown_once import Viewer

PARAMETER: Final = "shown"  # the parameter of the page's URL with the content's id, which is no secret
# Nodes of 0.1.3 store the content in the session and find it there, without an id and a time.
_SESSION_KEY: Final = "shown_once"
_PAGES_WITH_ROWS: Final = "shown_once_pages"  # their content is in the database too
_SESSION_PURPOSE: Final = "what operators are shown once"
_MAX_PAGES: Final = 5


def store(request: HttpRequest, page: str, content: Any) -> UUID:
    """Store content for a page, and return the id with which this session finds it."""
    _store_in_session(request, page, content)
    request.session[_PAGES_WITH_ROWS] = [*_get_pages_with_rows(request)[-_MAX_PAGES + 1 :], page]
    return shown_once.create(get_viewer(request), page, content)


def is_asked_for(request: HttpRequest) -> bool:
    """Tell whether a request is for the page that shows content."""
    return request.method == "GET" and PARAMETER in request.GET


def find(request: HttpRequest, page: str) -> Any:
    """Return the content that a request names, or None if it has expired or is for another session."""
    shown_id = ids.parse(request.GET[PARAMETER])
    _pop_from_session(request, page)
    return None if shown_id is None else shown_once.find(get_viewer(request), page, shown_id)


def find_older(request: HttpRequest, page: str) -> UUID | None:
    """Move content that a node of 0.1.3 stored in the session to the database. Return its id, or None."""
    has_row = page in _get_pages_with_rows(request)
    content = _pop_from_session(request, page)
    if content is None or has_row:
        return None
    return shown_once.create(get_viewer(request), page, content)


def discard(request: HttpRequest, shown_id: UUID) -> None:
    """Delete content before it expires."""
    shown_once.discard(get_viewer(request), shown_id)


def _get_pages_with_rows(request: HttpRequest) -> list[str]:
    return list(request.session.get(_PAGES_WITH_ROWS, []))


def get_viewer(request: HttpRequest) -> Viewer:
    """Return the administrator of a request, with the session."""
    return Viewer(str(request.user.pk), request.session.session_key or "")


def _store_in_session(request: HttpRequest, page: str, content: Any) -> None:
    stored = dict(list(request.session.get(_SESSION_KEY, {}).items())[-_MAX_PAGES + 1 :])
    stored[page] = keyring.encrypt(
        orjson.dumps(content), purpose=_SESSION_PURPOSE, bound_to=f"{request.user.pk} {page}"
    )
    request.session[_SESSION_KEY] = stored


def _pop_from_session(request: HttpRequest, page: str) -> Any:
    stored = request.session.get(_SESSION_KEY, {})
    if page not in stored:
        return None
    encrypted = stored.pop(page)
    request.session[_SESSION_KEY] = stored
    request.session[_PAGES_WITH_ROWS] = [name for name in _get_pages_with_rows(request) if name != page]
    bound_to = f"{request.user.pk} {page}"
    try:
        return orjson.loads(keyring.decrypt(encrypted, purpose=_SESSION_PURPOSE, bound_to=bound_to))
    except keyring.UnknownKey:
        return None
