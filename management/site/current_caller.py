"""The administrator of a request, read again after the request has waited for its client."""

from django.contrib import auth
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest

from management.site import passkey_session, provider_session


def read_again(request: HttpRequest) -> bool:
    """Read the session and its administrator again. Return whether an administrator is still signed in."""
    has_session = request.session.exists(request.session.session_key or "")
    request.user = auth.get_user(request) if has_session else AnonymousUser()
    end_session_without_proof(request)
    return request.user.is_authenticated


def end_session_without_proof(request: HttpRequest) -> None:
    """End a session whose account of the provider was unlinked, or whose passkey was removed."""
    provider_session.end_if_unlinked(request)
    passkey_session.end_if_removed(request)
