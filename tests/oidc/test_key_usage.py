"""When tokens of a key expire: what a process records before it signs, and how that excludes a rotation."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from oidc.keys import previous_keys, usage
from oidc.keys import services as keys
from oidc.keys.models import SigningKey, SigningKeyUsage
from oidc.provider.token.endpoint import GRANTS
from tests.support import cast
from tests.support.in_process import InProcessWorld
from tests.support.independent import claims_of, header_of, kids
from tests.support.threads import at_once, rounds

HOUR = 3600
with_threads = pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """This process has recorded nothing yet."""
    monkeypatch.setattr(usage, "_recorded", {})


@pytest.fixture
def acme(database):
    """Served by this process, so that the test knows what the process has recorded."""
    return InProcessWorld.of(cast.new_world("Acme"))


@pytest.fixture
def rival(database):
    return InProcessWorld.of(cast.new_world("Rival"))


def active_id(world):
    with world.active():
        return SigningKey.objects.active().get().pk


def recorded(world, key_id):
    """The hours that are recorded of a key, in order."""
    with world.active():
        rows = SigningKeyUsage.objects.filter(key_id=key_id).order_by("expires_at")
        return [int(row.expires_at.timestamp()) for row in rows]


def last_expiry(world, key_id):
    with world.active():
        return usage.get_last_expiry(SigningKey.objects.get(pk=key_id))


def full_hour(exp):
    return -(-exp // HOUR) * HOUR


class TestRecord:
    @pytest.mark.parametrize("grant", sorted(GRANTS))
    def test_every_grant_records_the_last_of_its_tokens(self, acme, grant):
        client, machine, user = acme.application(), acme.application("MachineToMachine"), acme.user()
        requests = {
            "client_credentials": lambda: machine.token(grant_type="client_credentials"),
            "authorization_code": lambda: client.redeem(acme.browser().code_for(client, user)),
            "refresh_token": lambda: client.refresh(client.tokens_for(user)["refresh_token"]),
        }

        answer = requests[grant]().json()

        tokens = [answer[name] for name in ("access_token", "id_token") if name in answer]
        [key_id] = {header_of(token)["kid"] for token in tokens}
        assert recorded(acme, key_id) == [full_hour(max(claims_of(token)["exp"] for token in tokens))]

    def test_writes_once_for_the_tokens_of_an_hour(self, acme):
        key_id = active_id(acme)
        hour = full_hour(int(time.time()))

        with acme.active(), CaptureQueriesContext(connection) as captured:
            for second_of_hour in (1, 2, HOUR // 2, HOUR):
                assert usage.record(key_id, exp=hour + second_of_hour) == key_id

        assert len(captured) == 1
        assert recorded(acme, key_id) == [hour + HOUR]

    def test_writes_again_for_a_longer_lifetime_and_not_for_a_shorter_one(self, acme):
        key_id = active_id(acme)
        hour = full_hour(int(time.time()))

        with acme.active(), CaptureQueriesContext(connection) as captured:
            for exp in (hour, hour + 30 * HOUR, hour + 1, hour + 30 * HOUR):
                usage.record(key_id, exp=exp)

        assert len(captured) == 2
        assert recorded(acme, key_id) == [hour, hour + 30 * HOUR]

    def test_two_processes_share_a_row(self, acme, monkeypatch):
        key_id = active_id(acme)
        hour = full_hour(int(time.time()))

        with acme.active():
            usage.record(key_id, exp=hour)
            monkeypatch.setattr(usage, "_recorded", {})
            usage.record(key_id, exp=hour)

        assert recorded(acme, key_id) == [hour]

    def test_returns_the_successor_of_a_key_that_was_retired(self, acme):
        old = active_id(acme)
        exp = int(time.time())

        with acme.active():
            new = keys.rotate()

            assert usage.record(old, exp=exp) == new.pk
        assert (recorded(acme, old), recorded(acme, new.pk)) == ([], [full_hour(exp)])

    def test_a_key_stays_good_until_the_hour_that_was_recorded_of_it(self, acme):
        """A request that read the active key before the rotation may still sign with it."""
        old = active_id(acme)
        exp = full_hour(int(time.time()))
        with acme.active():
            usage.record(old, exp=exp)
            new = keys.rotate()

            assert usage.record(old, exp=exp) == old
            assert usage.record(old, exp=exp + 1) == new.pk

    def test_refuses_a_tenant_without_an_active_key(self, acme):
        key_id = active_id(acme)
        with acme.active():
            SigningKey.objects.all().delete()

            with pytest.raises(SigningKey.DoesNotExist):
                usage.record(key_id, exp=int(time.time()))

    def test_case_G01_one_tenant_records_nothing_of_another(self, acme, rival):
        theirs, ours = active_id(rival), active_id(acme)

        with acme.active():
            assert usage.record(theirs, exp=int(time.time())) == ours

        assert recorded(rival, theirs) == []


class TestRows:
    def test_go_when_a_node_of_0_1_2_deletes_their_key(self, acme):
        """That node knows nothing of the table, so its DELETE is the only statement."""
        key_id = active_id(acme)
        with acme.active():
            usage.record(key_id, exp=int(time.time()))

        with connection.cursor() as cursor:
            value = SigningKey._meta.pk.get_db_prep_value(key_id, connection)
            cursor.execute("DELETE FROM keys_signingkey WHERE id = %s", [value])

        assert recorded(acme, key_id) == []

    def test_go_with_a_key_that_is_deleted(self, acme):
        key_id = active_id(acme)
        with acme.active():
            usage.record(key_id, exp=int(time.time()))
            keys.rotate()

            keys.remove(SigningKey.objects.get(pk=key_id))

        assert recorded(acme, key_id) == []


class TestRotationAtOnce:
    """A key that was seen unused after its rotation signs no token afterwards."""

    @with_threads
    def test_a_rotation_waits_for_a_record_that_has_begun(self, acme):
        key_id = active_id(acme)
        exp = int(time.time()) + HOUR

        with holding(acme, lambda: usage.record(key_id, exp=exp)) as commit:
            rotation = started(acme, keys.rotate)
            assert not is_done(rotation)
            commit()

        rotation.result(20)
        assert last_expiry(acme, key_id) == datetime.fromtimestamp(full_hour(exp), tz=UTC)

    @with_threads
    def test_a_record_waits_for_a_rotation_and_takes_the_successor(self, acme):
        old = active_id(acme)
        exp = int(time.time()) + HOUR

        with holding(acme, keys.rotate) as commit:
            record = started(acme, lambda: usage.record(old, exp=exp))
            assert not is_done(record)
            commit()

        assert record.result(20) == active_id(acme) != old
        assert last_expiry(acme, old) is None

    @with_threads
    def test_no_token_names_a_key_that_was_deleted_because_it_was_unused(self, acme):
        machine = acme.application("MachineToMachine")
        tokens: list[str] = []
        deleted: set[str] = set()

        def work(index: int) -> None:
            for _ in range(rounds(25)):
                if index == 0:
                    rotate_and_delete_if_unused(acme, deleted)
                    continue
                usage._recorded.clear()  # as if each request were the first of its process
                answer = machine.token(grant_type="client_credentials")
                assert answer.status_code == 200, answer.text
                tokens.append(answer.json()["access_token"])

        at_once(5, work)

        named = {header_of(token)["kid"] for token in tokens}
        assert len(named) > 1
        assert named & deleted == set()
        assert named <= set(kids(acme))


def rotate_and_delete_if_unused(world, deleted):
    with world.active():
        old = SigningKey.objects.active().get()
        try:
            keys.rotate()
        except previous_keys.TooMany:
            return  # tokens name all of them, so none is deleted
        if usage.get_last_expiry(old) is None:
            keys.remove(old)
            deleted.add(str(old.pk))


pool = ThreadPoolExecutor(4)


def started(world, work) -> Any:
    """Do the work inside the tenant, in a thread with a connection of its own."""

    def run() -> Any:
        try:
            with world.active():
                return work()
        finally:
            connections.close_all()

    return pool.submit(run)


@contextmanager
def holding(world, work):
    """Do the work in a transaction of another thread, which ends when what this yields is called."""
    is_written, may_commit = Event(), Event()

    def run() -> None:
        with transaction.atomic():
            work()
            is_written.set()
            may_commit.wait(20)

    running = started(world, run)
    assert is_written.wait(20)

    def commit() -> None:
        may_commit.set()
        running.result(20)

    yield commit
    may_commit.set()


def is_done(future) -> bool:
    """Whether it is done within half a second."""
    deadline = time.monotonic() + 0.5
    while not future.done() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(future.done())
