"""Requests that a worker serves in batches, as their clients see them: each as if it were alone."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import connection

from identity.core import tenancy
from identity.sessions import services as sessions
from identity.tenants import services as tenants
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application
from oidc.grants.codes import get_hash
from oidc.grants.models import AuthorizationCode
from oidc.keys import services as keys
from tests.support import cast, second, server
from tests.support.cast import RelyingParty, World
from tests.support.independent import claims_of, header_of, key_set, verified
from tests.support.simultaneous import (
    Request,
    code_request,
    count_transactions,
    entries_locked,
    find_waiting,
    locked,
    refresh_request,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)
from tests.support.threads import at_once

only_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pipelines")
METRICS = "a-token-of-the-metrics-of-batched-requests"
SETTINGS = {
    "TEST_APPLICATION": "config.wsgi:application",
    "TRUSTED_PROXIES": "127.0.0.1",
    "THREADS": "4",
    "METRICS_TOKEN": METRICS,
}
MOST = 32


@pytest.fixture(scope="module")
def batching(address: str) -> Iterator[str]:
    """The address of a server with the application of production, one worker and four threads."""
    with second.running(**SETTINGS) as served:
        yield served


@pytest.fixture
def here(batching: str) -> World:
    return cast.new_world("Batches").at(batching)


@pytest.fixture
def machine(here: World) -> RelyingParty:
    """A client with a plan, whose statement each thread has prepared."""
    return new_machine(here)


def new_machine(world: World) -> RelyingParty:
    client = world.application("MachineToMachine")
    prepare(client)
    return client


def prepare(client: RelyingParty) -> None:
    for _ in range(10):
        assert send([token_request(client) for _ in range(8)]) == [200] * 8


def new_families(world: World, number: int) -> tuple[RelyingParty, list[dict[str, Any]]]:
    """A client of users, and tokens of as many families, after enough refreshes to prepare all statements."""
    client, user = world.application(), world.user(name="Ada")
    browser = world.browser()
    tokens = [client.tokens_for(user, browser) for _ in range(number)]
    for _ in range(5):
        tokens = refresh_all(client, tokens)
    return client, tokens


def refresh_all(client: RelyingParty, tokens: list[dict[str, Any]]) -> list[dict[str, Any]]:
    requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
    assert send(requests) == [200] * len(tokens), [request.content for request in requests]
    return [request.json for request in requests]


def new_codes(world: World, number: int, **asked: str) -> tuple[RelyingParty, list[str]]:
    """A client, and codes of as many users, after enough requests to prepare all statements."""
    client, browser, first = world.application(), world.browser(), world.user()
    for _ in range(5):
        codes = [browser.code_for(client, first, **asked) for _ in range(4)]
        assert send([code_request(client, code) for code in codes]) == [200] * 4
    return client, [world.browser().code_for(client, world.user(), **asked) for _ in range(number)]


def origin(number: int) -> dict[str, str]:
    return {"User-Agent": f"client/{number} \xe9", "X-Forwarded-For": f"203.0.113.{number}"}


def origins_of(request: Request) -> list[tuple[Any, ...]]:
    """Return the tenant, the user agent and the address of each entry of a request."""
    return [(entry.tenant_id, entry.user_agent, entry.ip) for entry in request.entries]


class TestManyAtOnce:
    def test_each_gets_what_is_its_own(self, here):
        worlds = [here, cast.new_world("Second").at(here.address.partition("/t/")[0])]
        clients = [new_machine(world) for world in worlds for _ in range(3)]
        clients *= 8

        requests = [token_request(client, headers=origin(n)) for n, client in enumerate(clients)]
        assert send(requests) == [200] * len(clients)

        for number, (request, client) in enumerate(zip(requests, clients, strict=True)):
            claims = verified(request.json["access_token"], key_set(client.world))
            assert (claims["iss"], claims["client_id"]) == (client.world.issuer, client.client_id)
            assert origins_of(request) == [(client.world.tenant.pk, *origin(number).values())]
        assert len({claims_of(request.json["access_token"])["jti"] for request in requests}) == len(clients)

    @only_postgresql
    def test_their_entries_are_written_in_few_transactions(self, machine):
        requests = [token_request(machine) for _ in range(100)]

        with entries_locked() as session, sending(requests):
            wait_for_waiting(1)
            session.rollback()

        assert [request.status for request in requests] == [200] * 100
        transactions = count_transactions(requests)
        assert sum(transactions) == 100
        assert len(transactions) < 50
        assert 1 < transactions[0] <= MOST

    def test_families_are_each_rotated_once(self, here):
        client, tokens = new_families(here, 12)
        requests = [
            refresh_request(client, each["refresh_token"], headers=origin(n)) for n, each in enumerate(tokens)
        ]

        assert send(requests) == [200] * 12

        for number, (request, before) in enumerate(zip(requests, tokens, strict=True)):
            family, generation = before["refresh_token"].split(".")[:2]
            assert request.json["refresh_token"].startswith(f"{family}.{int(generation) + 1}.")
            assert origins_of(request) == [(here.tenant.pk, *origin(number).values())]

    def test_userinfo_is_that_of_the_user(self, here):
        client = here.application()
        people = [here.user(name=f"Person {number}") for number in range(6)]
        tokens = [client.tokens_for(user)["access_token"] for user in people]

        for _ in range(8):
            requests = [userinfo_request(client, token) for token in tokens * 3]
            assert send(requests) == [200] * 18
            assert [request.json["sub"] for request in requests] == [str(user.pk) for user in people] * 3
            assert [request.json["name"] for request in requests] == [user.name for user in people] * 3

    def test_wrong_secrets_concern_nobody_else(self, machine):
        wrong = cast.new_secret()
        requests = [token_request(machine, secret=wrong if number % 4 == 0 else "") for number in range(24)]

        assert send(requests) == [401, 200, 200, 200] * 6

        for request in requests:
            (entry,) = request.entries
            assert entry.payload["result"] == ("success" if request.status == 200 else "failed")

    def test_other_methods_are_answered_as_ever(self, here, machine):
        client, (tokens,) = new_families(here, 1)
        token = tokens["access_token"]
        head, get = userinfo_request(client, token, "HEAD"), userinfo_request(client, token)
        others = [
            Request("GET", f"{here.address}/oidc/token", {}),
            Request("HEAD", f"{here.address}/oidc/token", {}),
            Request("OPTIONS", f"{here.address}/oidc/token", {}),
            Request("PUT", f"{here.address}/oidc/userinfo", {}),
            userinfo_request(client, token + "x"),
        ]

        statuses = send([*(token_request(machine) for _ in range(8)), head, get, *others])

        assert statuses == [200] * 10 + [405, 405, 204, 405, 401]
        assert (head.content, head.answer_headers["Content-Length"]) == (b"", str(len(get.content)))
        assert len({each.answer_headers["X-Request-Id"] for each in (head, get, *others)}) == 7

    def test_each_counts_once(self, here, machine):
        before = count_metrics(here)

        assert send([token_request(machine) for _ in range(40)]) == [200] * 40

        assert count_metrics(here) - before == 40


def count_metrics(world: World) -> float:
    """Return how many requests to the token endpoint the server has counted."""
    answer = cast.new_client().get(
        f"{world.address.partition('/t/')[0]}/metrics", headers={"Authorization": f"Bearer {METRICS}"}
    )
    name = 'gatehouse_http_requests_total{method="POST",route="oidc:token",status="200"} '
    return float(answer.text.partition(name)[2].partition("\n")[0] or 0)


def stored(client: RelyingParty) -> Application:
    return Application.objects.get(pk=client.application.pk)


class TestAChange:
    """What was committed before a request arrived counts, in a batch too."""

    def test_of_a_secret(self, here, machine):
        with here.active():
            secret = applications.rotate_secret(stored(machine))

        assert send([token_request(machine) for _ in range(16)]) == [401] * 16
        assert send([token_request(machine, secret=secret) for _ in range(16)]) == [200] * 16

    def test_of_a_key(self, here, machine):
        with here.active():
            active = str(keys.rotate().pk)

        requests = [token_request(machine) for _ in range(16)]

        assert send(requests) == [200] * 16
        assert {header_of(request.json["access_token"])["kid"] for request in requests} == {active}

    @pytest.mark.parametrize("change", [users.suspend, users.remove])
    def test_of_a_user(self, here, change):
        client, tokens = new_families(here, 4)
        other, others = new_families(here, 4)
        with here.active():
            change(User.objects.get(pk=claims_of(tokens[0]["id_token"])["sub"]))

        requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
        requests += [userinfo_request(client, each["access_token"]) for each in tokens]
        requests += [refresh_request(other, each["refresh_token"]) for each in others]

        assert send(requests) == [400] * 4 + [401] * 4 + [200] * 4

    def test_of_sessions(self, here):
        client, user, other = here.application(), here.user(), here.user()
        tokens = [client.tokens_for(each, scope="openid")["access_token"] for each in (user, other) * 4]
        requests = [userinfo_request(client, token) for token in tokens]
        assert [send(requests) for _ in range(8)] == [[200] * 8] * 8

        with here.active():
            sessions.end_all(user)

        assert send(requests) == [401, 200] * 4

    def test_of_the_tenant(self, here, machine):
        with tenancy.using(tenancy.EVERYWHERE):
            tenants.remove(here.tenant)

        statuses = send([token_request(machine) for _ in range(16)])

        # A worker knows a tenant for some seconds. Its applications are deleted.
        assert set(statuses) <= {401, 404}


class TestOneFamily:
    def test_its_token_sent_at_once_is_rotated_once(self, here):
        client, (tokens,) = new_families(here, 1)
        family, generation = tokens["refresh_token"].split(".")[:2]
        requests = [refresh_request(client, tokens["refresh_token"]) for _ in range(16)]

        assert send(requests) == [200] * 16

        (newest,) = {request.json["refresh_token"] for request in requests}
        assert newest.startswith(f"{family}.{int(generation) + 1}.")
        assert [len(request.entries) for request in requests] == [1] * 16
        refresh_all(client, [{"refresh_token": newest}])

    def test_a_replay_ends_only_its_family(self, here):
        client, first = new_families(here, 6)
        newest = refresh_all(client, refresh_all(client, first))
        sent = [first[0], *newest[1:]]

        statuses = send([refresh_request(client, each["refresh_token"]) for each in sent])

        assert statuses == [400, 200, 200, 200, 200, 200]
        assert send([refresh_request(client, newest[0]["refresh_token"])]) == [400]

    @only_postgresql
    def test_a_lock_on_it_delays_only_its_refresh(self, here, machine):
        client, tokens = new_families(here, 12)
        requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
        requests[6:6] = [token_request(machine) for _ in range(8)]
        family = tokens[4]["refresh_token"].partition(".")[0]

        with (
            locked("SELECT FROM grants_refreshfamily WHERE id = %s FOR UPDATE", family) as session,
            sending(requests) as connections,
        ):
            for number, (request, http) in enumerate(zip(requests, connections, strict=True)):
                if number != 4:
                    request.read(http)
                    assert request.status == 200
            wait_for_waiting(1)
            session.rollback()

        assert requests[4].status == 200


class TestCodes:
    def test_are_each_redeemed_for_their_user(self, here):
        client, codes = new_codes(here, 6)
        requests = [code_request(client, code, headers=origin(n)) for n, code in enumerate(codes)]

        assert send(requests) == [200] * 6

        subjects = [claims_of(request.json["id_token"])["sub"] for request in requests]
        assert len(set(subjects)) == 6
        for number, (request, subject) in enumerate(zip(requests, subjects, strict=True)):
            assert origins_of(request) == [(here.tenant.pk, *origin(number).values())]
            assert [entry.user_id for entry in request.entries] == [subject]

    @pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
    def test_that_are_sent_many_times_at_once_are_redeemed_once_and_revoked(self, here, scope):
        client, codes = new_codes(here, 3, scope=scope)
        for code in codes:
            requests = [code_request(client, code) for _ in range(12)]

            assert sorted(send(requests)) == [200] + [400] * 11

            [tokens] = [request.json for request in requests if request.status == 200]
            assert send([userinfo_request(client, tokens["access_token"])]) == [401]
            if "refresh_token" in tokens:
                assert send([refresh_request(client, tokens["refresh_token"])]) == [400]

    @only_postgresql
    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT FROM grants_authorizationcode WHERE user_id = %s FOR UPDATE",
            "SELECT FROM users_user WHERE id = %s FOR UPDATE",
        ],
    )
    def test_a_lock_on_one_or_its_user_delays_only_its_request(self, here, machine, statement):
        client, codes = new_codes(here, 6)
        with here.active():
            user = AuthorizationCode.objects.get(code_hash=get_hash(codes[4])).user_id
        requests = [code_request(client, code) for code in codes]
        requests += [token_request(machine) for _ in range(8)]

        with locked(statement, user) as session, sending(requests) as connections:
            for number, (request, http) in enumerate(zip(requests, connections, strict=True)):
                if number != 4:
                    request.read(http)
                    assert request.status == 200
            wait_for_waiting(1)
            session.rollback()

        assert requests[4].status == 200

    @only_postgresql
    def test_are_redeemed_in_few_transactions(self, here):
        client, codes = new_codes(here, 12)
        requests = [code_request(client, code) for code in codes]

        with entries_locked() as session, sending(requests):
            wait_for_waiting(1)
            session.rollback()

        assert [request.status for request in requests] == [200] * 12
        assert len(count_transactions(requests)) < 12


@only_postgresql
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


def send_together(client: RelyingParty) -> list[Request]:
    """Send 40 requests while entries are locked, so that they wait for each other."""
    requests = [token_request(client) for _ in range(40)]
    with entries_locked() as session, sending(requests):
        wait_for_waiting(1)
        session.rollback()
    return requests


@contextmanager
def refusing(
    client: RelyingParty, event: str, kind: str = "", does: str = "RAISE EXCEPTION 'refused'"
) -> Iterator[None]:
    """Have a trigger refuse the entries of a client, or do something else about them."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as session:
        session.execute(
            f"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NEW.application_id = '{client.application.pk}' THEN {does}; END IF; RETURN NEW; END $$"
        )
        session.execute(f"CREATE {kind} TRIGGER refuse {event} FOR EACH ROW EXECUTE FUNCTION refuse()")
        try:
            yield
        finally:
            session.execute("DROP TRIGGER refuse ON audit_entry; DROP FUNCTION refuse()")


@only_postgresql
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
        environment = {"PORT": port, "BASE_URL": address, "WEB_CONCURRENCY": "1"} | SETTINGS
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


@only_postgresql
def test_batches_of_two_workers_deadlock_with_nothing(acme):
    """While families are rotated in another order, and their users are deleted."""
    with second.running(**SETTINGS | {"WEB_CONCURRENCY": "2"}) as served:
        world = acme.at(served)
        client = world.application()
        people = [world.user() for _ in range(4)]
        tokens = [client.tokens_for(user) for user in people * 4]
        for _ in range(8):
            tokens = refresh_all(client, tokens)
        before = count_deadlocks()

        def refresh(number: int) -> set[int]:
            if number == 2:
                for user in people[:2]:
                    time.sleep(0.2)
                    with world.active():
                        users.remove(user)
            requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
            return {status for _ in range(6) for status in send(requests[:: 1 - 2 * (number % 2)])}

        assert set().union(*at_once(3, refresh)) <= {200, 400}
    assert count_deadlocks() == before


def count_deadlocks() -> int:
    time.sleep(1.5)  # until the sessions have reported them
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


@only_postgresql
@pytest.mark.parametrize(
    "setting", [{"DATABASE_PREPARED_STATEMENTS": "false"}, {"DATABASE_POOL": "2"}], ids=str
)
def test_another_kind_of_connection_serves_them(acme, setting):
    with second.running(**SETTINGS | setting) as served:
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
