"""Prometheus metrics, added up over all workers of this server.

A label has few values: the name of a route, never a path, a tenant or a user.
"""

import os
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

REQUESTS: Final = Counter(
    "gatehouse_http_requests", "The number of responses.", ["method", "route", "status"]
)
SECONDS: Final = Histogram("gatehouse_http_request_seconds", "The duration of requests.", ["route"])

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

# Set in config.gunicorn: the directory in which the workers store their metrics.
_SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"


def name_method(method: str | None) -> str:
    """Return the label of a method, which a client can choose freely."""
    return method if method in _METHODS else "other"


def count(method: str, route: str, status: int, seconds: float) -> None:
    """Count and time a request."""
    REQUESTS.labels(method, route, status).inc()
    SECONDS.labels(route).observe(seconds)


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = REGISTRY
    if os.environ.get(_SHARED):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
