"""What load balancers ask: whether the process answers, and whether people can be sent to it."""

import base64
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import second


def answer_of(address: str, path: str) -> tuple[int, object]:
    answer = httpx.get(f"{address}{path}")
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code, answer.json()


class TestReady:
    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_a_server_that_serves(self, address, path):
        assert answer_of(address, path) == (200, {"status": "ok"})

    @pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
    def test_case_K12_is_told_of_the_server_and_of_no_tenant(self, acme, path):
        assert acme.get(path).status_code == 404

    @pytest.mark.parametrize("path", ["/healthz", "/readyz"])
    def test_head_is_get_without_a_body_and_nothing_else_is_taken(self, address, path):
        assert httpx.head(f"{address}{path}").status_code == 200
        assert httpx.post(f"{address}{path}").status_code == 405


class TestNotReady:
    """The process is alive and says so: starting it again would fix nothing."""

    def answers_with(self, **environment: str) -> list[Any]:
        with second.running(**environment) as address:
            return [answer_of(address, path) for path in ("/readyz", "/healthz")]

    def lacking(self, what: str) -> list[Any]:
        return [(503, {"status": "not ready", "failures": [what]}), (200, {"status": "ok"})]

    def test_without_a_database(self):
        nowhere = f"postgres://nobody@127.0.0.1:{second.free_port()}/nothing"
        assert self.answers_with(DATABASE_URL=nowhere) == self.lacking("database")

    def test_with_a_database_that_was_never_migrated(self, tmp_path: Path):
        empty = f"sqlite:///{tmp_path}/empty.sqlite3"
        assert self.answers_with(DATABASE_URL=empty) == self.lacking("migrations")

    def test_with_other_encryption_keys(self):
        other = base64.urlsafe_b64encode(os.urandom(32)).decode()
        assert self.answers_with(ENCRYPTION_KEYS=other) == self.lacking("keys")
