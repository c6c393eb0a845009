"""What fails in a batch, and clients that leave: nobody else notices."""

import os
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.support import batching, second, server
from tests.support.batching import (
    new_families,
    new_machine,
    only_postgresql,
    prepare,
    refresh_all,
    refusing,
    send_together,
)
from tests.support.cast import RelyingParty, World
from tests.support.simultaneous import (
    count_transactions,
    entries_locked,
    find_waiting,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)

pytestmark = only_postgresql


class TestAFailure:
    @pytest.fixture
    def spoilt(self, here: World) -> Iterator[RelyingParty]:
        """A client whose entries the database refuses."""
        client = new_machine(here)
        with refusing(client, "BEFORE INSERT ON audit_entry"):
            yield client

    def test_of_a_statement_is_that_of_its_request(self, machine, spoilt):
        clients = [machine, machine, spoilt, machine] * 8
        requests = [token_request(client) for client in clients]

        assert send(requests) == [200, 200, 500, 200] * 8

        for request, client in zip(requests, clients, strict=True):
            assert client is spoilt or [entry.key for entry in request.entries] == ["Token.Exchange"]

    def test_of_a_commit_is_that_of_its_request(self, here, machine):
        spoilt = new_machine(here)
        clients = [machine, machine, spoilt, machine] * 8
        requests = [token_request(client) for client in clients]

        with refusing(spoilt, "AFTER INSERT ON audit_entry DEFERRABLE INITIALLY DEFERRED", "CONSTRAINT"):
            assert send(requests) == [200, 200, 500, 200] * 8

        for request, client in zip(requests, clients, strict=True):
            assert client is spoilt or len(request.entries) == 1

    def test_of_the_connection_is_503(self, machine):
        requests = [token_request(machine) for _ in range(60)]

        with entries_locked() as session, sending(requests):
            wait_for_waiting(2)
            with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
                for pid in find_waiting():
                    other.execute("SELECT pg_terminate_backend(%s)", [pid])
            session.rollback()

        statuses = [request.status for request in requests]
        assert 503 in statuses
        assert set(statuses) <= {200, 503}
        for request in requests:
            assert len(request.entries) == (request.status == 200)
        prepare(machine)
        later = send_together(machine)
        assert [request.status for request in later] == [200] * 40
        assert count_transactions(later)[0] > 1

    def test_of_a_plan_is_none(self, here):
        """The result of a prepared statement has other types after a migration."""
        client, tokens = new_families(here, 8)
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
            session.execute("ALTER TABLE users_user ALTER COLUMN name TYPE varchar(4000)")
        try:
            for _ in range(6):
                requests = [userinfo_request(client, each["access_token"]) for each in tokens]
                assert send(requests) == [200] * 8
                tokens = refresh_all(client, tokens)
        finally:
            with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
                session.execute("ALTER TABLE users_user ALTER COLUMN name TYPE varchar(256)")

    def test_of_a_slow_batch_does_not_hold_up_the_next(self, here, machine):
        slow = new_machine(here)
        slowly = "PERFORM pg_sleep(2)"
        with refusing(slow, "BEFORE INSERT ON audit_entry", does=slowly), sending([token_request(slow)]):
            began = time.monotonic()
            for _ in range(5):
                assert send([token_request(machine) for _ in range(8)]) == [200] * 8
            assert time.monotonic() - began < 1.5


class TestClients:
    def test_that_leave_concern_nobody_else(self, machine):
        requests = [token_request(machine) for _ in range(60)]

        with entries_locked() as session, sending(requests) as connections:
            wait_for_waiting(1)
            for http in connections[::2]:
                http.close()
            time.sleep(0.2)
            session.rollback()

        assert [request.status for request in requests[1::2]] == [200] * 30
        later = send_together(machine)
        assert [request.status for request in later] == [200] * 40
        assert count_transactions(later)[0] > 1

    def test_are_answered_before_the_server_stops(self, acme):
        port = str(second.free_port())
        address = f"http://127.0.0.1:{port}"
        environment = {"PORT": port, "BASE_URL": address, "WEB_CONCURRENCY": "1"} | batching.SETTINGS
        with server.process(**environment) as process:
            client = acme.at(address).application("MachineToMachine")
            prepare(client)
            requests = [token_request(client) for _ in range(60)]
            with entries_locked() as session, sending(requests):
                wait_for_waiting(1)
                time.sleep(0.2)  # until all have arrived
                process.terminate()
                time.sleep(0.5)
                session.rollback()

            assert [request.status for request in requests] == [200] * 60
            assert process.wait(20) == 0


@pytest.mark.parametrize(
    "setting", [{"DATABASE_PREPARED_STATEMENTS": "false"}, {"DATABASE_POOL": "2"}], ids=str
)
def test_another_kind_of_connection_serves_them(acme, setting):
    with batching.running(**setting) as served:
        world = acme.at(served)
        machine = new_machine(world)
        client, tokens = new_families(world, 4)
        with refusing(new_machine(world), "BEFORE INSERT ON audit_entry"):
            for _ in range(4):
                requests = [token_request(machine) for _ in range(16)]
                requests += [userinfo_request(client, each["access_token"]) for each in tokens]
                assert send(requests) == [200] * 20
                assert [len(request.entries) for request in requests] == [1] * 16 + [0] * 4
                tokens = refresh_all(client, tokens)
        if "DATABASE_POOL" in setting:
            later = send_together(machine)
            assert [request.status for request in later] == [200] * 40
            assert count_transactions(later)[0] > 1
