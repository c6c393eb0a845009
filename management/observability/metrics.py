"""What is measured for Prometheus, in all workers of this server together.

Labels are bounded: a route by its name, never a path; no tenant and no person.
"""

import os
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

REQUESTS: Final = Counter(
    "gatehouse_http_requests", "Requests that were answered.", ["method", "route", "status"]
)
SECONDS: Final = Histogram("gatehouse_http_request_seconds", "How long an answer took.", ["route"])

# Where gunicorn's configuration has the workers keep their counts.
_SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"


def exposition() -> bytes:
    """Return all figures in Prometheus' text format."""
    registry = REGISTRY
    if os.environ.get(_SHARED):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
