"""What a page of the operators' site shows one time: kept, encrypted, in the session until then.

A form that made a secret is answered with a redirect, so that reloading the page makes no second one.
"""

from typing import Any, Final

import orjson
from django.http import HttpRequest

from identity.encryption import keyring

_KEY: Final = "shown_once"
_PURPOSE: Final = "what operators are shown once"
_MOST: Final = 5  # pages of one session that wait to be shown


def keep(request: HttpRequest, page: str, content: Any) -> None:
    """Keep content for the next time that this session opens a page."""
    waiting = dict(list(request.session.get(_KEY, {}).items())[-_MOST + 1 :])
    waiting[page] = keyring.encrypt(
        orjson.dumps(content), purpose=_PURPOSE, bound_to=_bound_to(request, page)
    )
    request.session[_KEY] = waiting


def take(request: HttpRequest, page: str) -> Any:
    """Return what waits for a page, which is gone with this; nothing where nothing waits."""
    waiting = request.session.get(_KEY, {})
    if page not in waiting:
        return None
    sealed = waiting.pop(page)
    request.session[_KEY] = waiting
    try:
        return orjson.loads(keyring.decrypt(sealed, purpose=_PURPOSE, bound_to=_bound_to(request, page)))
    except keyring.UnknownKey:
        return None


def _bound_to(request: HttpRequest, page: str) -> str:
    return f"{request.user.pk} {page}"
