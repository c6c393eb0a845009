"""Metrics and log lines of requests: route, status and duration."""

import logging
import time
from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from management.observability import metrics

_logger: Final = logging.getLogger("gatehouse.requests")


class MeasuringMiddleware:
    """Counts and times each request, and logs it with LOG_REQUESTS."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not (settings.METRICS_TOKEN or settings.LOG_REQUESTS):
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request and measure it."""
        started = time.perf_counter()
        response = self.get_response(request)
        seconds = time.perf_counter() - started
        method = metrics.name_method(request.method)
        route = request.resolver_match.view_name if request.resolver_match else "none"
        metrics.count(method, route, response.status_code, seconds)
        if settings.LOG_REQUESTS:
            # The route, not the path: a query may hold a code, a path an identifier.
            facts = {"method": method, "route": route, "status": response.status_code}
            _logger.info("request", extra=facts | {"milliseconds": round(1000 * seconds, 1)})
        return response
