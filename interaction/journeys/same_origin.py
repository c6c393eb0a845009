"""Whether a request was made by a page of ours, by what browsers say of it."""

from django.conf import settings
from django.http import HttpRequest


def made_here(request: HttpRequest) -> bool:
    """Tell whether a page of our origin made the request, or no page at all."""
    if request.META.get("HTTP_ORIGIN", settings.BASE_URL) != settings.BASE_URL:
        return False
    return request.META.get("HTTP_SEC_FETCH_SITE", "same-origin") in {"same-origin", "none"}
