"""How many statements a request costs, counted in this process."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import httpx
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.support.cast import RelyingParty, World

_NOT_COUNTED = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


class Inside:
    """A browser or server in the test's own process, so that statements can be counted."""

    def __init__(self, world: World) -> None:
        self.prefix = f"/t/{world.tenant.slug}"
        self.http = Client()

    def get(self, path: str, **options: Any) -> Any:
        return self.http.get(self._whole(path), **options)

    def post(self, path: str, form: dict[str, Any], **options: Any) -> Any:
        return self.http.generic(
            "POST",
            self._whole(path),
            urlencode(form),
            content_type="application/x-www-form-urlencoded",
            **options,
        )

    def send(self, path: str, body: dict[str, Any]) -> Any:
        return self.http.post(self._whole(path), body, content_type="application/json")

    def _whole(self, path: str) -> str:
        return path if path.startswith(self.prefix) else f"{self.prefix}{path}"


def cost(call: Callable[[], HttpResponse | httpx.Response], status: int = 200) -> tuple[int, int]:
    """Return how many statements read and how many wrote."""
    with CaptureQueriesContext(connection) as captured:
        answer = call()
    assert answer.status_code == status, answer.content
    statements = [query["sql"] for query in captured if not query["sql"].startswith(_NOT_COUNTED)]
    reads = sum(statement.startswith("SELECT") for statement in statements)
    return reads, len(statements) - reads


def chained(statements: int) -> int:
    """Return how many statements a change and what it entails are: on PostgreSQL one."""
    return 1 if connection.vendor == "postgresql" else statements


def refreshed(client: RelyingParty, token: str) -> dict[str, str]:
    return {
        "grant_type": "refresh_token",
        "refresh_token": token,
        "client_id": client.client_id,
        "client_secret": client.secret,
    }
