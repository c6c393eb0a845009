"""What browsers, password managers, crawlers and researchers look for at fixed addresses."""

from datetime import timedelta
from typing import Final

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from identity.http.responses import redirect

_KEPT: Final = "public, max-age=86400"
_EXPIRES_AFTER: Final = timedelta(days=30)


@require_safe
def change_password(_: HttpRequest) -> HttpResponse:
    """Redirect to the page for a new password (W3C, A Well-Known URL for Changing Passwords)."""
    return redirect(reverse("pages:account-password"))


@require_safe
def security_txt(_: HttpRequest) -> HttpResponse:
    """Return whom to tell of a weakness (RFC 9116); 404 without ``SECURITY_CONTACT``."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + _EXPIRES_AFTER).strftime("%Y-%m-%dT00:00:00Z")
    canonical = f"{settings.BASE_URL}/.well-known/security.txt"
    lines = [f"Contact: {settings.SECURITY_CONTACT}", f"Expires: {expires}", f"Canonical: {canonical}", ""]
    return _new_text("\n".join(lines))


@require_safe
def robots_txt(_: HttpRequest) -> HttpResponse:
    """Return the rule that crawlers read no page."""
    return _new_text("User-agent: *\nDisallow: /\n")


@require_safe
def favicon(_: HttpRequest) -> HttpResponse:
    """Redirect to the icon, which browsers also look for without a page that names it."""
    response = redirect(static("gatehouse/favicon.svg"))
    response["Cache-Control"] = _KEPT
    return response


def _new_text(text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["Cache-Control"] = _KEPT
    return response
