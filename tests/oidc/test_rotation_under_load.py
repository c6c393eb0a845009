"""Keys that change while tokens are issued: real threads, the real server, the database of production.

A relying party is played that keeps the key set for as long as it likes and looks again only
once a new key was announced, as those do that cache it for an hour.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Event, Semaphore
from typing import Any

import httpx
import pytest
from django.db import connection

from oidc.keys.models import SigningKey
from tests.support import management
from tests.support.cast import World
from tests.support.independent import header_of, key_set, kids, verified
from tests.support.management import Caller, result_of
from tests.support.threads import at_once

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)

THOROUGH = os.environ.get("GATEHOUSE_THOROUGH") == "1"
ROUNDS = 200 if THOROUGH else 10
ROTATIONS = 20 if THOROUGH else 5  # as many previous keys as there may be
TOKENS_BETWEEN = 9  # so many answers come before the next step, some from each kind of grant
PATH = "/signing-keys"


@pytest.fixture
def admin(acme: World) -> Caller:
    return management.superuser(acme)


class Load:
    """Token requests of every kind that go on until they are told to stop; each must be answered."""

    def __init__(self, world: World, check: Callable[[str], object]) -> None:
        self.world, self.check = world, check
        self.issued: list[str] = []
        self._answered, self._over = Semaphore(0), Event()
        self.kinds = [self._machine, self._machine, self._refreshing, self._redeeming]

    def work(self, index: int) -> None:
        """Send requests of one kind."""
        for answer in self.kinds[index]():
            assert answer.status_code == 200, answer.text
            tokens = [answer.json()[name] for name in ("access_token", "id_token") if name in answer.json()]
            for token in tokens:
                self.check(token)
            self.issued += tokens
            self._answered.release()
            if self._over.is_set():
                return

    def go_on(self) -> None:
        """Wait until some more were answered, from this moment on."""
        while self._answered.acquire(blocking=False):
            pass
        for _ in range(TOKENS_BETWEEN):
            assert self._answered.acquire(timeout=60), "no more answers"

    @contextmanager
    def ending(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._over.set()

    def _machine(self) -> Iterator[httpx.Response]:
        machine = self.world.application("MachineToMachine")
        while True:
            yield machine.token(grant_type="client_credentials")

    def _refreshing(self) -> Iterator[httpx.Response]:
        client = self.world.application()
        tokens = client.tokens_for(self.world.user())
        while True:
            answer = client.refresh(tokens["refresh_token"])
            yield answer
            tokens = answer.json()

    def _redeeming(self) -> Iterator[httpx.Response]:
        client, user, browser = self.world.application(), self.world.user(), self.world.browser()
        while True:
            yield client.redeem(browser.code_for(client, user))


def meanwhile(load: Load, change: Callable[[], Any]) -> None:
    """Change something while the load is on."""

    def work(index: int) -> None:
        if index < len(load.kinds):
            load.work(index)
            return
        with load.ending():
            load.go_on()
            change()

    at_once(len(load.kinds) + 1, work)


def make_room(world: World) -> None:
    """Delete the previous keys, of which there may be 20."""
    with world.active():
        SigningKey.objects.filter(status=SigningKey.Status.PREVIOUS).delete()


class TestUnderLoad:
    def test_case_M08_decision_K1_who_looked_once_after_prepare_can_verify_every_token(self, acme, admin):
        known = [key_set(acme)]
        load = Load(acme, check=lambda token: verified(token, known[-1]))

        def prepare_wait_and_rotate() -> None:
            for _ in range(ROTATIONS):
                result_of(admin.post(f"{PATH}/prepare"))
                known.append(key_set(acme))
                load.go_on()
                result_of(admin.post(f"{PATH}/rotate"))
                load.go_on()

        meanwhile(load, prepare_wait_and_rotate)

        # Every key was used, and the key set was never looked at between a rotation and its tokens.
        assert {header_of(token)["kid"] for token in load.issued} == set(kids(acme))
        assert len(known) == ROTATIONS + 1 == len(kids(acme))
        for token in load.issued:
            verified(token, known[-1])

    def test_case_F18_M08_an_emergency_fails_no_request(self, acme, admin):
        load = Load(acme, check=header_of)

        def rotate_and_delete() -> None:
            for _ in range(ROTATIONS):
                old = kids(acme)[0]
                result_of(admin.post(f"{PATH}/rotate"))
                result_of(admin.delete(f"{PATH}/{old}"))
                load.go_on()

        meanwhile(load, rotate_and_delete)

        [active] = kids(acme)
        assert active in {header_of(token)["kid"] for token in load.issued}


class TestAtOnce:
    """Changes of keys at the same time: one key is active, and at most one waits, at every moment."""

    def test_decision_K1_who_prepare_at_once_get_one_key(self, acme, admin):
        for _ in range(ROUNDS):
            *answers, listed = race(admin, *[partial(admin.post, f"{PATH}/prepare")] * 6)

            [waiting] = {result_of(answer)["id"] for answer in answers}
            assert [key["id"] for key in listed if key["status"] == "next"] == [waiting]
            result_of(admin.post(f"{PATH}/rotate"))
            make_room(acme)

    def test_case_F20_decision_K1_rotating_beside_preparing(self, acme, admin):
        prepare, rotate = (partial(admin.post, f"{PATH}/{verb}") for verb in ("prepare", "rotate"))
        for _ in range(ROUNDS):
            *answers, listed = race(admin, prepare, rotate, prepare, rotate)

            assert [answer.status_code for answer in answers] == [200] * 4
            # Each rotation has an active key of its own.
            first, second = (result_of(answer)["id"] for answer in answers[1::2])
            assert first != second
            assert listed[0]["id"] in {first, second}
            make_room(acme)

    def test_case_F20_decision_K1_rotating_beside_deleting_the_next_key(self, acme, admin):
        for _ in range(ROUNDS):
            waiting = result_of(admin.post(f"{PATH}/prepare"))["id"]

            rotated, deleted, listed = race(
                admin, partial(admin.post, f"{PATH}/rotate"), partial(admin.delete, f"{PATH}/{waiting}")
            )

            # It was deleted in time, and another one is active; or it is the active one, and stays.
            assert deleted.status_code in {200, 400}, deleted.text
            assert (result_of(rotated)["id"] == waiting) is (deleted.status_code == 400)
            assert listed[0]["id"] == result_of(rotated)["id"]
            assert [key["status"] for key in listed].count("next") == 0
            make_room(acme)

    def test_deleting_the_next_key_twice_at_once(self, acme, admin):
        for _ in range(ROUNDS):
            waiting = result_of(admin.post(f"{PATH}/prepare"))["id"]

            *answers, _ = race(admin, *[partial(admin.delete, f"{PATH}/{waiting}")] * 3)

            assert sorted(answer.status_code for answer in answers) == [200, 404, 404]


def race(admin: Caller, *calls: Callable[[], httpx.Response]) -> list[Any]:
    """Make the calls at once, and look meanwhile; return their answers, and the keys as they are then."""
    all_calls: list[Callable[[], Any]] = [*calls, partial(admin.get, PATH), partial(kids, admin.world)]
    *answers, during, published = at_once(len(all_calls), lambda index: all_calls[index]())
    after = result_of(admin.get(PATH))
    assert published
    for keys in (result_of(during), after):
        statuses = [key["status"] for key in keys]
        assert statuses.count("active") == 1
        assert statuses[0] == "active"
        assert statuses.count("next") <= 1
    return [*answers, after]
