"""Django's CSRF check, stricter behind a proxy that terminates TLS."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN, CsrfViewMiddleware
from django.urls import get_callable

_SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS", "TRACE"}


class OriginCheckMiddleware(CsrfViewMiddleware):
    """Refuses forms from ``http`` pages if Gatehouse is served over ``https``.

    Behind the proxy Django sees plain HTTP, so it would accept ``http://{Host}`` as the same origin.
    """

    def process_view(  # type: ignore[override]  # the failure view returns a plain response
        self, request: HttpRequest, callback: Any, callback_args: Any, callback_kwargs: Any
    ) -> HttpResponse | None:
        """Return the refusal, or None to call the view."""
        origin = request.META.get("HTTP_ORIGIN", "")
        if (
            settings.BASE_URL.startswith("https:")
            and origin.startswith("http:")
            and request.method not in _SAFE_METHODS
            and not getattr(callback, "csrf_exempt", False)
        ):
            refuse = get_callable(settings.CSRF_FAILURE_VIEW)
            refusal: HttpResponse = refuse(request, reason=REASON_BAD_ORIGIN % origin)
            return refusal
        return super().process_view(request, callback, callback_args, callback_kwargs)
