"""Secrets that a page of the operators' site shows until *Done* is pressed or two minutes have passed.

A form that creates a secret redirects to the page that shows it, so that reloading creates no second one.
"""

from typing import Any, Final
from uuid import UUID

from django.http import HttpRequest

from database import ids
from identity.submissions import shown_once
from identity.submissions.shown_once import Viewer

PARAMETER: Final = "shown"  # the parameter of the page's URL with the content's id, which is no secret


def store(request: HttpRequest, page: str, content: Any) -> UUID:
    """Store content for a page, and return the id with which this session finds it."""
    return shown_once.create(get_viewer(request), page, content)


def is_asked_for(request: HttpRequest) -> bool:
    """Return whether a request is for the page that shows content."""
    return request.method == "GET" and PARAMETER in request.GET


def find(request: HttpRequest, page: str) -> Any:
    """Return the content that a request names, or None if it has expired or is for another session."""
    shown_id = ids.parse(request.GET[PARAMETER])
    return None if shown_id is None else shown_once.find(get_viewer(request), page, shown_id)


def discard(request: HttpRequest, shown_id: UUID) -> None:
    """Delete content before it expires."""
    shown_once.discard(get_viewer(request), shown_id)


def get_viewer(request: HttpRequest) -> Viewer:
    """Return the administrator of a request, with the session."""
    return Viewer(str(request.user.pk), request.session.session_key or "")
