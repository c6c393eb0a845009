"""A pending sign-in, after the password and before the second step, in the session for 10 minutes."""

import time
from typing import Final

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from management.administrators.models import Administrator
from management.site import idle_sessions

_KEY: Final = "second_step_of"
_SECONDS: Final = 600


def begin(request: HttpRequest, administrator: Administrator) -> None:
    """Store in a new session that the administrator's password was verified."""
    idle_sessions.flush(request)
    request.session[_KEY] = {
        "id": administrator.pk,
        "hash": administrator.get_session_auth_hash(),
        "at": int(time.time()),
    }


def get_administrator(request: HttpRequest) -> Administrator | None:
    """Return the administrator of the pending sign-in, unless it expired or the credentials changed."""
    stored = request.session.get(_KEY)
    if stored is None or time.time() - stored["at"] > _SECONDS:
        return None
    administrator = Administrator.objects.filter(pk=stored["id"]).first()
    if administrator is None:
        return None
    is_unchanged = constant_time_compare(stored["hash"], administrator.get_session_auth_hash())
    return administrator if is_unchanged else None


def end(request: HttpRequest) -> None:
    """Delete the pending sign-in."""
    request.session.pop(_KEY, None)
