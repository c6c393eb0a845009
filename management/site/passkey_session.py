"""Sessions of the operators' site that a passkey has started."""

from typing import Final

from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest
from django.utils.translation import gettext

from management.administrators.models import Administrator, AdministratorPasskey

_KEY: Final = "passkey"


def store(request: HttpRequest, passkey: AdministratorPasskey) -> None:
    """Store in the session which passkey has started it."""
    request.session[_KEY] = str(passkey.pk)


def forget(request: HttpRequest) -> None:
    """Delete what an earlier sign-in with a passkey has stored, before a sign-in with a password."""
    request.session.pop(_KEY, None)


def is_started_by_passkey(request: HttpRequest) -> bool:
    """Return whether a passkey, which counts as two factors, has started this session."""
    return _KEY in request.session


def end_if_removed(request: HttpRequest) -> None:
    """End a session whose passkey was removed."""
    passkey = request.session.get(_KEY)
    if passkey is None or not isinstance(request.user, Administrator):
        return
    if not AdministratorPasskey.objects.filter(pk=passkey, administrator=request.user).exists():
        logout(request)
        messages.info(request, gettext("You were signed out, because your passkey was removed."))
