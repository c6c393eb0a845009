"""Same-origin requests, recognized by the headers that browsers send."""

from django.conf import settings
from django.http import HttpRequest


def is_same_origin(request: HttpRequest) -> bool:
    """Return whether a page of the same origin made the request, or no page at all."""
    if request.META.get("HTTP_ORIGIN", settings.BASE_URL) != settings.BASE_URL:
        return False
    return request.META.get("HTTP_SEC_FETCH_SITE", "same-origin") in {"same-origin", "none"}


def may_hide_cookies(request: HttpRequest) -> bool:
    """Return whether the browser may have cookies that it did not send.

    Browsers send SameSite=Lax cookies with a cross-site GET, but not with a POST.
    """
    return request.method == "POST" and not is_same_origin(request)
