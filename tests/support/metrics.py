"""Read series of the metrics endpoint."""

import secrets

import httpx
from prometheus_client.parser import text_string_to_metric_families

TOKEN = secrets.token_urlsafe(32)
SIGN_IN = "/api/interaction/sign-in"


def exposition(address: str, token: str = TOKEN) -> httpx.Response:
    return httpx.get(f"{address}/metrics", headers={b"Authorization": f"Bearer {token}".encode()})


def figure(address: str, name: str, **labels: str) -> float:
    """The value of a series, in all workers together; 0 when there is none."""
    families = text_string_to_metric_families(exposition(address).text)
    samples = (sample for family in families for sample in family.samples)
    return sum(s.value for s in samples if s.name == name and labels.items() <= s.labels.items())
