"""Spans as a collector of OpenTelemetry gets them."""

import secrets
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.support import second
from tests.support.providers import WebProvider, answer, web_provider

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


@pytest.fixture(scope="module")
def collector() -> Iterator[WebProvider]:
    with web_provider() as web:
        web.answers["/v1/traces"] = answer(200, {})
        yield web


def traced(collector: WebProvider, **environment: str) -> Iterator[str]:
    with second.running(
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.address, OTEL_BSP_SCHEDULE_DELAY="50", **environment
    ) as address:
        yield address


@pytest.fixture(scope="module")
def exposed(database: None, collector: WebProvider) -> Iterator[str]:
    yield from traced(collector)


@pytest.fixture(scope="module")
def behind_a_proxy(database: None, collector: WebProvider) -> Iterator[str]:
    yield from traced(collector, TRUSTED_PROXIES="127.0.0.1")


def span_of(collector: WebProvider, reply: httpx.Response) -> Any:
    """The span of a request, waited for."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for asked in list(collector.asked):
            for resource in ExportTraceServiceRequest.FromString(asked.body).resource_spans:
                for scope in resource.scope_spans:
                    for span in scope.spans:
                        if said(span).get("gatehouse.request_id") == reply.headers["X-Request-Id"]:
                            return span
        time.sleep(0.05)
    raise AssertionError("its span never came")


def said(span: Span) -> dict[str, str | int]:
    return {fact.key: fact.value.string_value or fact.value.int_value for fact in span.attributes}


def test_a_request_is_a_span_that_names_its_route_and_nobody(exposed, collector):
    canary = f"canary-{secrets.token_hex(8)}"
    reply = httpx.get(f"{exposed}/oidc/authorize?client_id={canary}", headers={"User-Agent": canary})

    span = span_of(collector, reply)

    assert span.name == "GET oidc:authorize"
    assert span.kind == Span.SPAN_KIND_SERVER
    assert said(span) == {
        "http.request.method": "GET",
        "http.route": "oidc:authorize",
        "http.response.status_code": 400,
        "gatehouse.request_id": reply.headers["X-Request-Id"],
    }
    assert span.status.code == Status.STATUS_CODE_UNSET
    assert not any(canary.encode() in asked.body for asked in collector.asked)


def test_a_stranger_decides_neither_the_trace_nor_what_is_sampled(exposed, collector):
    span = span_of(collector, httpx.get(f"{exposed}/healthz", headers=TRACEPARENT))

    assert span.trace_id.hex() != TRACE
    assert not span.parent_span_id


def test_a_proxy_that_is_trusted_is_continued(behind_a_proxy, collector):
    span = span_of(collector, httpx.get(f"{behind_a_proxy}/healthz", headers=TRACEPARENT))

    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)


def test_without_a_collector_nobody_waits(database):
    nowhere = f"http://127.0.0.1:{second.free_port()}"
    with second.running(OTEL_EXPORTER_OTLP_ENDPOINT=nowhere) as address:
        assert httpx.get(f"{address}/readyz").status_code == 200
