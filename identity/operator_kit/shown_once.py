"""Content that one page of the console shows once. It is stored encrypted in the session until then.

A form that creates a secret redirects to the page that shows it, so that reloading creates no second one.
"""

from typing import Any, Final

import orjson
from django.http import HttpRequest

from identity.encryption import keyring

_SESSION_KEY: Final = "shown_once"
_PURPOSE: Final = "what operators are shown once"
_MAX_PAGES: Final = 5


def store(request: HttpRequest, page: str, content: Any) -> None:
    """Store content for the next time that this session opens a page."""
    stored = dict(list(request.session.get(_SESSION_KEY, {}).items())[-_MAX_PAGES + 1 :])
    stored[page] = keyring.encrypt(orjson.dumps(content), purpose=_PURPOSE, bound_to=_bound_to(request, page))
    request.session[_SESSION_KEY] = stored


def pop(request: HttpRequest, page: str) -> Any:
    """Delete the content for a page and return it; none if there is none, or its key was removed."""
    stored = request.session.get(_SESSION_KEY, {})
    if page not in stored:
        return None
    encrypted = stored.pop(page)
    request.session[_SESSION_KEY] = stored
    try:
        return orjson.loads(keyring.decrypt(encrypted, purpose=_PURPOSE, bound_to=_bound_to(request, page)))
    except keyring.UnknownKey:
        return None


def _bound_to(request: HttpRequest, page: str) -> str:
    return f"{request.user.pk} {page}"
