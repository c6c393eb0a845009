"""Administrators who download the audit log and read nothing, or too long (AP45)."""

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from django.db import connection

from audit.models import Entry
from identity.core import tenancy
from management.administrators import services as administrators
from tests.support import operators, second
from tests.support.cast import new_world
from tests.support.threads import wait_until

PATH = "/admin/audit/entry/export/?when=all"
THREADS = 16
ENTRIES = 6_000
HEAD = 12  # bytes that have the status

pytestmark = pytest.mark.usefixtures("default_tenant")


@pytest.fixture(scope="module")
def address(database: None) -> Iterator[str]:
    with second.running(THREADS=str(THREADS)) as found:
        yield found


def fill(world):
    """Give a tenant more entries than the system keeps for a client that does not read."""
    payload = {"text": "x" * 1_000}
    Entry.objects.bulk_create(
        [Entry(tenant_id=world.tenant.pk, key="Test", payload=payload) for _ in range(ENTRIES)], 500
    )
    return world


@pytest.fixture
def world(address):
    return fill(new_world())


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def auditor(*worlds):
    return operators.administrator(tenants=[world.tenant.slug for world in worlds], role="auditor")


def ask(address, operator, clients):
    """Begin a download with a small buffer, and return the socket."""
    client = clients.enter_context(socket.socket())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.settimeout(30)
    client.connect(("127.0.0.1", int(address.rpartition(":")[2])))
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in operator.http.cookies.jar)
    client.sendall(f"GET {PATH} HTTP/1.1\r\nHost: x\r\nCookie: {cookies}\r\n\r\n".encode())
    return client


def status(client):
    return int(client.recv(HEAD, socket.MSG_WAITALL)[9:])


def read_all(client):
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
            if part.endswith(b"0\r\n\r\n"):
                break
    except ConnectionResetError:
        pass
    return b"".join(parts)


def test_attack_AP45_an_administrator_who_reads_nothing_holds_one_thread(address, world, clients):
    operator = operators.at(world, auditor(world))

    asking = [ask(address, operator, clients) for _ in range(2 * THREADS)]

    assert sorted(status(one) for one in asking) == [200, *[503] * (2 * THREADS - 1)]
    assert httpx.get(f"{world.at(address).address}/sign-in", timeout=10).status_code == 200


def test_attack_AP45_administrators_of_a_tenant_leave_a_place_to_other_tenants(address, world, clients):
    of_world = [ask(address, operators.at(world, auditor(world)), clients) for _ in range(3)]
    assert sorted(status(one) for one in of_world) == [200, 503, 503]

    other = new_world()

    assert status(ask(address, operators.at(other, auditor(other)), clients)) == 200


def test_attack_AP45_an_administrator_of_two_tenants_has_one_download(address, world, clients):
    other, who = new_world(), auditor(world, new_world())
    with tenancy.using(tenancy.DEFAULT):
        administrators.change(who, {"tenants": [world.tenant.slug, other.tenant.slug]})
    assert status(ask(address, operators.at(world, who), clients)) == 200

    assert status(ask(address, operators.at(other, who), clients)) == 503


def test_a_refused_download_says_what_to_do(address, world, clients):
    operator = operators.at(world, auditor(world))
    assert status(ask(address, operator, clients)) == 200

    answer = read_all(ask(address, operator, clients)).decode()

    assert "Retry-After: 30" in answer
    assert "one export at a time" in answer


def test_a_download_that_has_ended_makes_room(address, world, clients):
    operator = operators.at(world, auditor(world))
    with ExitStack() as left:
        assert status(ask(address, operator, left)) == 200
    complete = clients.enter_context(socket.socket())

    def works():
        nonlocal complete
        complete = ask(address, operator, clients)
        return status(complete) == 200

    assert wait_until(works)
    assert read_all(complete).count(b"\r\n") > ENTRIES
    assert status(ask(address, operator, clients)) == 200


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pool")
def test_attack_AP45_downloads_hold_no_connection_of_a_pool(world):
    other = fill(new_world())
    with second.running(THREADS=str(THREADS), DATABASE_POOL="2") as pooled, ExitStack() as clients:
        slow = [ask(pooled, operators.at(one, auditor(one)), clients) for one in (world, other)]
        statuses = [status(one) for one in slow]
        page = httpx.get(f"{world.at(pooled).address}/sign-in", timeout=20)

    assert statuses == [200, 200]
    assert page.status_code == 200


@pytest.mark.parametrize("taken", [{}, {"tenants": []}, {"role": "support"}], ids=json.dumps)
def test_attack_AP45_a_download_ends_with_the_right_to_read_the_log(address, world, clients, taken):
    who = auditor(world)
    client = ask(address, operators.at(world, who), clients)
    assert status(client) == 200
    with tenancy.using(tenancy.DEFAULT):
        administrators.change(who, taken) if taken else administrators.remove(who)

    rest = read_all(client)

    assert not rest.endswith(b"0\r\n\r\n")
    assert rest.count(b'"Test"') < ENTRIES
