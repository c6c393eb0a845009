"""Prometheus metrics, added up over all workers of this server.

A label has few values: the name of a route, never a path, a tenant or a user.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Final

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import InfoMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from management.upgrades import presence

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
    return generate_latest(registry) + generate_latest(_get_build())


@cache
def _get_build() -> CollectorRegistry:
    """Return the version of this code as a metric, which must not be added up over the workers."""
    registry = CollectorRegistry()
    family = InfoMetricFamily("gatehouse_build", "The version of Gatehouse.", {"version": presence.release()})
    registry.register(_Constant(family))
    return registry


class _Constant(Collector):
    """A collector of one metric that never changes."""

    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterable[Metric]:
        return [self._family]
