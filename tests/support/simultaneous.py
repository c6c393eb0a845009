"""Requests that are sent at the same moment, and what they wait for in PostgreSQL."""

import base64
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

import psycopg
from django.db import connection

from audit.models import Entry
from tests.support.cast import RelyingParty
from tests.support.threads import wait_until


@dataclass
class Request:
    """A request, and then its answer. ``status`` is 0 if the server closes the connection without one."""

    method: str
    address: str
    headers: dict[str, str]
    body: str = ""
    status: int = 0
    answer_headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def entries(self) -> list[Entry]:
        """The audit entries with the id of the answer."""
        return list(Entry.objects.of_request(self.answer_headers["X-Request-Id"]))

    def send(self, http: HTTPConnection) -> None:
        self.status = 0
        http.request(self.method, urlsplit(self.address).path, self.body or None, self.headers)

    def read(self, http: HTTPConnection) -> None:
        with suppress(HTTPException, OSError):
            response = http.getresponse()
            self.content, self.answer_headers = response.read(), dict(response.getheaders())
            self.status = response.status


def token_request(client: RelyingParty, secret: str = "", headers: Any = (), **form: str) -> Request:
    """A request of a client to the token endpoint, for client credentials unless the form says otherwise."""
    credentials = f"{client.client_id}:{secret or client.secret}".encode()
    sent = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Authorization": f"Basic {base64.b64encode(credentials).decode()}",
        **dict(headers),
    }
    body = urlencode({"grant_type": "client_credentials"} | form)
    return Request("POST", f"{client.world.address}/oidc/token", sent, body)


def refresh_request(client: RelyingParty, refresh_token: str, headers: Any = ()) -> Request:
    return token_request(client, headers=headers, grant_type="refresh_token", refresh_token=refresh_token)


def code_request(client: RelyingParty, code: str, headers: Any = ()) -> Request:
    form = {"redirect_uri": client.application.redirect_uris[0], "code_verifier": client.verifier}
    return token_request(client, headers=headers, grant_type="authorization_code", code=code, **form)


def userinfo_request(client: RelyingParty, access_token: str, method: str = "GET") -> Request:
    sent = {"Authorization": f"Bearer {access_token}"}
    return Request(method, f"{client.world.address}/oidc/userinfo", sent)


@contextmanager
def sending(requests: Sequence[Request]) -> Iterator[list[HTTPConnection]]:
    """Send requests, each on a connection of its own. At the end of the block, read their answers."""
    with ExitStack() as stack:
        connections = []
        for request in requests:
            parts = urlsplit(request.address)
            http = HTTPConnection(parts.hostname or "", parts.port, timeout=15)
            connections.append(stack.enter_context(closing(http)))
            http.connect()
        for request, http in zip(requests, connections, strict=True):
            request.send(http)
        yield connections
        for request, http in zip(requests, connections, strict=True):
            if http.sock is not None and not request.status:  # neither closed nor read in the block
                request.read(http)


def send(requests: Sequence[Request]) -> list[int]:
    """Send requests at the same moment, and return the status of each answer."""
    with sending(requests):
        pass
    return [request.status for request in requests]


def count_transactions(requests: Sequence[Request]) -> list[int]:
    """Return how many audit entries of the requests were written in each transaction, the most first."""
    ids = [request.answer_headers["X-Request-Id"] for request in requests]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM audit_entry WHERE request_id = ANY(%s) GROUP BY xmin::text ORDER BY 1 DESC",
            [ids],
        )
        return [number for (number,) in cursor.fetchall()]


@contextmanager
def database_session() -> Iterator[psycopg.Connection]:
    """A session of the run's database, whose transaction ends with the block."""
    with psycopg.connect(os.environ["DATABASE_URL"]) as session:
        yield session
        session.rollback()


@contextmanager
def locked(statement: str, *parameters: object) -> Iterator[psycopg.Connection]:
    """Hold what a statement locks during the block."""
    with database_session() as session:
        session.execute(statement, parameters)
        yield session


@contextmanager
def entries_locked() -> Iterator[psycopg.Connection]:
    """Let nobody write an audit entry during the block."""
    with locked("LOCK TABLE audit_entry IN SHARE MODE") as session:
        yield session


def find_waiting() -> list[int]:
    """Return the processes of PostgreSQL that wait for a lock in the run's database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return [pid for (pid,) in cursor.fetchall()]


def wait_for_waiting(number: int) -> None:
    """Wait until so many processes of PostgreSQL wait for a lock."""
    assert wait_until(lambda: len(find_waiting()) >= number)
