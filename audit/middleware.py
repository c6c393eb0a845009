"""Says where a request comes from, and gives it the id by which people can ask about it."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from uuid_utils.compat import uuid7

from audit import context
from audit.client_address import client_address


class OriginMiddleware:
    """Notes address, user agent and correlation id; answers carry the id as ``X-Request-Id``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request inside its own context."""
        request_id = str(uuid7())
        # Django logs the outcome when this context is gone, and hands the request to the log.
        request.correlation_id = request_id  # type: ignore[attr-defined]
        with context.request(
            ip=client_address(request),
            user_agent=request.META.get("HTTP_USER_AGENT", ""),
            request_id=request_id,
        ):
            response = self.get_response(request)
        response["X-Request-Id"] = request_id
        return response
