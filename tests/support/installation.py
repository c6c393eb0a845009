"""An installation for tests of faults: a database, its nodes, and checks for afterwards."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
from django.conf import settings

from tests.support import customers, database_roles, second, server, stage, witness
from tests.support.postgres_server import PostgresServer
from tests.support.witness import Witness

PEOPLE = [f"person-{number}" for number in range(6)]
_OWNER, _SERVING = "gatehouse_owner", "gatehouse_serving"


@dataclass
class Node:
    """A process of gunicorn."""

    address: str
    process: Any
    environment: dict[str, str]

    def workers(self) -> list[int]:
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children]


@dataclass
class Installation:
    """A database and the nodes on it."""

    url: str  # for the role that serves
    owner: str
    server: PostgresServer | None
    running: ExitStack
    environment: dict[str, str]
    nodes: list[Node] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.nodes[0].address

    def serve(self, **environment: str) -> Node:
        """Start a node; all have one issuer, the address of the first."""
        port = str(second.free_port())
        address = f"http://127.0.0.1:{port}"
        base = self.nodes[0].address if self.nodes else address
        # What production serves: the other tests' application opens a file for each request.
        made = {"BASE_URL": base, "WEB_CONCURRENCY": "2", "TEST_APPLICATION": "config.wsgi:application"}
        made |= self.environment | environment
        made |= {"PORT": port, "DATABASE_URL": made.get("DATABASE_URL", self.url)}
        process = self.running.enter_context(server.process(settings.BASE_DIR, **made))
        self.nodes.append(Node(address, process, made))
        return self.nodes[-1]

    def witness(self) -> Witness:
        with httpx.Client(base_url=self.address, timeout=30) as http:
            shop = customers.arrive(http, PEOPLE)
        return witness.arrive(self.address, shop, addresses=[node.address for node in self.nodes])

    def query(self, statement: str, *values: object) -> list[Any]:
        """Ask the database as the owner of its tables."""
        with psycopg.connect(self.owner, autocommit=True) as reader:
            return reader.execute(statement, values).fetchall()

    def becomes_ready(self, seconds: float = 10) -> float:
        """Wait until every node says that it is ready, and return how long that took."""
        began = time.monotonic()
        for node in self.nodes:
            while not _is_ready(node.address):
                assert time.monotonic() < began + seconds, f"not ready after {seconds} seconds"
                time.sleep(0.05)
        return time.monotonic() - began


def _is_ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=10).status_code == 200
    except httpx.TransportError:
        return False


def check_nothing_is_lost(seen: Witness, query: Callable[..., list[Any]]) -> None:
    """Check that every acknowledged write is stored, and that the audit log agrees with the tables."""
    made = [name for (name,) in query("SELECT username FROM users_user WHERE username LIKE 'made-%%'")]
    assert set(seen.shop.created) <= set(made)
    [(entries,)] = query("SELECT count(*) FROM audit_entry WHERE key = 'User.Create'")
    [(users,)] = query("SELECT count(*) FROM users_user")
    assert entries == users
    for family in seen.families:
        [(generation, ended)] = query(
            "SELECT generation, ended_at IS NOT NULL FROM grants_refreshfamily WHERE id::text = %s", family.id
        )
        # What the client holds is the newest, or the answer to its next try was lost.
        assert family.generation <= generation <= family.generation + 1
        assert ended is family.is_ended
    issued = query("SELECT count(*) FROM audit_entry WHERE application_id = %s", seen.shop.machine_id)[0][0]
    assert issued >= sum(
        each.program == "asking_for_tokens" and each.outcome == "ok" for each in seen.answers
    )
    consents = "SELECT count(*) FROM audit_entry WHERE key = 'Consent.Grant'"
    assert seen.consented == 0 or query(consents)[0][0] > 0
    refused = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 'audit_entry'::regclass AND tgenabled = 'O' "
    assert query(refused + "AND NOT tgisinternal")[0][0] == 4


def check_one_branch(seen: Witness) -> None:
    """Check that the newest token of a family works, and that a replayed one ends the family."""
    with httpx.Client(base_url=seen.addresses[0], timeout=30) as http:
        for family in [each for each in seen.families if not each.is_ended]:
            first = _refresh(http, seen, family.token)
            if first.status_code == 400:  # the answer to its last try was lost longer ago than the grace
                continue
            assert first.status_code == 200, first.text
            then = _refresh(http, seen, first.json()["refresh_token"])
            assert then.status_code == 200, then.text
            assert _refresh(http, seen, family.token).json()["error"] == "invalid_grant"
            assert _refresh(http, seen, then.json()["refresh_token"]).json()["error"] == "invalid_grant"


def _refresh(http: httpx.Client, seen: Witness, token: str) -> httpx.Response:
    form = {"grant_type": "refresh_token", "refresh_token": token}
    return http.post("/oidc/token", data=form, auth=seen.shop.shop)


@contextmanager
def installed(database: PostgresServer, name: str, **environment: str) -> Iterator[Installation]:
    """Install on a server of PostgreSQL, with the two roles of the documentation."""
    common = {"DJANGO_SETTINGS_MODULE": "config.settings", "TEST_STATEMENTS_FILE": os.devnull} | environment
    with database.connect() as superuser:
        query = "SELECT FROM pg_database WHERE datname = 'installed'"
        if superuser.execute(query).fetchone() is None:
            _install(database, common)
        superuser.execute(f'CREATE DATABASE "{name}" TEMPLATE installed')
        superuser.execute(f'ALTER DATABASE "{name}" OWNER TO {_OWNER}')
        superuser.execute(f'GRANT CONNECT ON DATABASE "{name}" TO {_SERVING}')
    with ExitStack() as running:
        yield Installation(
            database.url(name, _SERVING), database.url(name, _OWNER), database, running, common
        )


def _install(database: PostgresServer, environment: dict[str, str]) -> None:
    """Make the database that the others are copies of."""
    with database.connect() as superuser:
        superuser.execute("CREATE DATABASE installed")
    database_roles.run_file(database.url("installed"), _OWNER, _SERVING)
    roles = {"DATABASE_URL": database.url("installed", _OWNER), "DATABASE_SERVING_ROLE": _SERVING}
    for command in (["migrate", "--verbosity=0"], ["bootstrap"]):
        stage.manage(environment | roles, *command)
