"""Sessions of the operators' site that a sign-in at the provider has started."""

from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from identity.http.responses import allow_form_targets
from management.administrators import single_sign_on
from management.administrators.models import Administrator
from management.administrators.single_sign_on import SignIn

_ACCOUNT, _TWO_FACTORS = "provider_account", "provider_two_factors"


def store(request: HttpRequest, signed_in: SignIn) -> None:
    """Store in the session which account of the provider has started it."""
    request.session[_ACCOUNT] = str(signed_in.account.pk)
    request.session[_TWO_FACTORS] = signed_in.has_two_factors


def forget(request: HttpRequest) -> None:
    """Delete what an earlier sign-in at the provider has stored, before a sign-in with a password."""
    for key in (_ACCOUNT, _TWO_FACTORS):
        request.session.pop(key, None)


def has_two_factors(request: HttpRequest) -> bool:
    """Return whether the provider's two factors replace the second step in this session."""
    return bool(request.session.get(_TWO_FACTORS))


def end_if_unlinked(request: HttpRequest) -> None:
    """End a session whose account of the provider was unlinked, or whose provider was replaced."""
    account = request.session.get(_ACCOUNT)
    if account is None or not isinstance(request.user, Administrator):
        return
    if not single_sign_on.is_linked(account, request.user):
        logout(request)
        text = gettext("You were signed out, because your account at the provider was unlinked.")
        messages.info(request, text)


def allow_provider(response: HttpResponse) -> None:
    """Allow forms of the page to redirect to the provider, even to one without https in development."""
    if single_sign_on.is_configured():
        parts = urlsplit(settings.ADMIN_OIDC.issuer)
        allow_form_targets(response, (f"{parts.scheme}://{parts.netloc}",))
