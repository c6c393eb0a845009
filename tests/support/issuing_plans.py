"""Requests of machines, and whether an issuing plan answered them."""

from typing import Any

import httpx
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.cast import RelyingParty

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
CREDENTIALS = {"grant_type": "client_credentials"}


def send(
    client: RelyingParty, body: str | bytes = "grant_type=client_credentials", **options: Any
) -> httpx.Response:
    headers = FORM | options.pop("headers", {})
    return client.world.post(
        "/oidc/token", content=body, headers=headers, **({"auth": client.basic} | options)
    )


def is_planned(request: Any) -> bool:
    """Say whether a request is answered by a plan: in one statement, which writes the entry."""
    with CaptureQueriesContext(connection) as captured:
        answer = request()
    assert answer.status_code == 200, answer.text
    return [query["sql"].split()[0] for query in captured] == ["INSERT"]


def planned_statements(client: RelyingParty) -> list[str]:
    """Return the kinds of the statements that a request runs; a plan runs one INSERT."""
    with CaptureQueriesContext(connection) as captured:
        send(client)
    return [query["sql"].split()[0] for query in captured]
