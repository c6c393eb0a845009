"""OpenTelemetry spans of requests: the extra ``tracing``, enabled by OTEL_EXPORTER_OTLP_ENDPOINT."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse

from audit import context


class TracingMiddleware:
    """Creates a span for each request, named after its route, because a path or query may hold a secret."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not settings.TRACING:
            raise MiddlewareNotUsed
        from opentelemetry import propagate, trace  # noqa: PLC0415 - an optional extra

        self._get_response = get_response
        self._extract = propagate.extract
        self._kind = trace.SpanKind.SERVER
        self._failed = trace.StatusCode.ERROR
        # Spans are exported only after ``start``: that needs a thread, and threads do not survive a fork.
        self._tracer = trace.get_tracer("gatehouse")

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Serve the request in its span."""
        # Only a trusted proxy may choose the trace and whether it is sampled.
        trusted = request.META.get("REMOTE_ADDR") in settings.TRUSTED_PROXIES
        parent = self._extract(request.headers) if trusted else None
        with self._tracer.start_as_current_span("request", parent, self._kind) as span:
            response = self._get_response(request)
            route = request.resolver_match.view_name if request.resolver_match else "none"
            span.update_name(f"{request.method} {route}")
            span.set_attributes(
                {
                    "http.request.method": request.method or "",
                    "http.route": route,
                    "http.response.status_code": response.status_code,
                    "gatehouse.request_id": context.current().request_id,
                }
            )
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.set_status(self._failed)
            return response


def start() -> None:
    """Start exporting the spans of this process, as OpenTelemetry's variables (``OTEL_…``) configure it."""
    if not settings.TRACING:
        return
    from opentelemetry import trace  # noqa: PLC0415 - as above
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
