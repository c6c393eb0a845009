"""The middleware that sets the origin and the correlation id of a request."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from audit import context
from audit.client_address import client_address, client_country
from database import ids


class OriginMiddleware:
    """Sets address, user agent and correlation id. ``config.headers`` puts the id into the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request in its own audit context."""
        request_id = ids.new_text()
        # Django logs the outcome after this context has ended, and passes the request to the log.
        request.correlation_id = request_id  # type: ignore[attr-defined]
        with context.new_request(
            ip=client_address(request),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
            request_id=request_id,
            country=client_country(request),
        ):
            return self.get_response(request)
