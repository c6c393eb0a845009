"""What load balancers ask: whether the process answers, and whether people can be sent to it."""

import base64
import os
from pathlib import Path

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
    """The process is alive and says so: starting it again would mend nothing."""

    def is_alive_but_lacks(self, missing: str, **environment: str) -> None:
        with second.running(**environment) as address:
            assert answer_of(address, "/readyz") == (503, {"status": "not ready", "failures": [missing]})
            assert answer_of(address, "/healthz") == (200, {"status": "ok"})

    def test_without_a_database(self):
        nowhere = f"postgres://nobody@127.0.0.1:{second.free_port()}/nothing"
        self.is_alive_but_lacks("database", DATABASE_URL=nowhere)

    def test_with_a_database_that_was_never_migrated(self, tmp_path: Path):
        self.is_alive_but_lacks("migrations", DATABASE_URL=f"sqlite:///{tmp_path}/empty.sqlite3")

    def test_with_other_encryption_keys(self):
        other = base64.urlsafe_b64encode(os.urandom(32)).decode()
        self.is_alive_but_lacks("keys", ENCRYPTION_KEYS=other)
