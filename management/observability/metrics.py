"""Prometheus metrics of all workers of this server together.

Labels have few values: a route's name, never a path, a tenant or a user.
"""

import os
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

REQUESTS: Final = Counter(
    "gatehouse_http_requests", "Requests that were answered.", ["method", "route", "status"]
)
SECONDS: Final = Histogram("gatehouse_http_request_seconds", "How long an answer took.", ["route"])

# Set in config.gunicorn: the directory in which the workers store their metrics.
_SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format."""
    registry = REGISTRY
    if os.environ.get(_SHARED):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
