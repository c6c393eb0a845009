"""A sign-in whose first step was taken: kept in the session for some minutes, worth nothing alone."""

import time
from typing import Final

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from management.administrators.models import Administrator

_KEY: Final = "second_step_of"
_SECONDS: Final = 600


def begin(request: HttpRequest, administrator: Administrator) -> None:
    """Note who proved the password, under a new key of the session."""
    request.session.flush()
    request.session[_KEY] = {
        "id": administrator.pk,
        "hash": administrator.get_session_auth_hash(),
        "at": int(time.time()),
    }


def administrator_of(request: HttpRequest) -> Administrator | None:
    """Return who proved the password, unless it is too long ago or something changed meanwhile."""
    noted = request.session.get(_KEY)
    if noted is None or time.time() - noted["at"] > _SECONDS:
        return None
    found = Administrator.objects.filter(pk=noted["id"]).first()
    if found is None or not constant_time_compare(noted["hash"], found.get_session_auth_hash()):
        return None
    return found


def end(request: HttpRequest) -> None:
    """Forget it."""
    request.session.pop(_KEY, None)
