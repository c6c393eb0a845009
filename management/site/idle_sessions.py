"""How long sessions of the operators' site last (OWASP ASVS 7.3).

A session ends after ``ADMIN_IDLE_SECONDS`` without use, and ``SESSION_COOKIE_AGE`` after the sign-in.
"""

import time
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, logout
from django.http import HttpRequest
from django.utils.translation import ngettext

from identity.operator_kit import kept_input
from management.administrators.models import Administrator
from management.site import chosen_tenant

_KEY: Final = "used_at"
_PRECISION: Final = 60  # seconds; the last use is stored once a minute
_END: Final = "_session_expiry"  # of Django: the time of ``set_expiry``


def begin(request: HttpRequest, administrator: Administrator) -> None:
    """Sign the administrator in. The session gets a new key, and its end."""
    login(request, administrator)
    _set_end(request)


def end_if_idle(request: HttpRequest) -> None:
    """End the session of a request if it was idle for too long, and otherwise store its use.

    A session that an earlier release began has no end yet and gets one.

    The session that follows has no administrator. It notes whose session has ended, and the tenant, so that
    the next sign-in continues there.
    """
    now, used_at = int(time.time()), request.session.get(_KEY)
    if used_at is not None and now - used_at >= settings.ADMIN_IDLE_SECONDS:
        administrator_id, tenant_id = request.user.pk, request.session.get(chosen_tenant.KEY)
        logout(request)
        kept_input.note_end(request.session, administrator_id)
        request.session[chosen_tenant.KEY] = tenant_id
        minutes = settings.ADMIN_IDLE_SECONDS // 60
        text = ngettext(
            "You were signed out after %(number)s minute without use. Sign in again.",
            "You were signed out after %(number)s minutes without use. Sign in again.",
            minutes,
        )
        messages.info(request, text % {"number": minutes})
    elif used_at is None or now - used_at >= min(_PRECISION, settings.ADMIN_IDLE_SECONDS // 10):
        request.session[_KEY] = now
        if _END not in request.session:
            _set_end(request)


def flush(request: HttpRequest) -> None:
    """Replace a session before a sign-in continues. Only what an ended session left is kept."""
    left = {
        key: request.session[key]
        for key in (kept_input.SESSION_KEY, chosen_tenant.KEY)
        if kept_input.SESSION_KEY in request.session and key in request.session
    }
    request.session.flush()
    request.session.update(left)


def _set_end(request: HttpRequest) -> None:
    # Without it, Django moves the end each time that the session is saved.
    request.session.set_expiry(timedelta(seconds=settings.SESSION_COOKIE_AGE))
