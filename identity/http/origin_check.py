"""Django's check of forms, behind a proxy that ends TLS."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_BAD_ORIGIN, CsrfViewMiddleware
from django.urls import get_callable

_SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS", "TRACE"}


class OriginCheckMiddleware(CsrfViewMiddleware):
    """Refuses forms of pages that came without TLS, where Gatehouse itself is ``https``.

    Django sees plain HTTP behind the proxy, and takes ``http://{Host}`` for our own origin.
    """

    def process_view(  # type: ignore[override]  # our failure view answers 403 with a plain response
        self, request: HttpRequest, callback: Any, callback_args: Any, callback_kwargs: Any
    ) -> HttpResponse | None:
        """Refuse the request, or leave it to its view."""
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
