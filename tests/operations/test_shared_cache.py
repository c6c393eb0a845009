"""Limits that nodes count together in Redis, and what happens to guessing when it goes away."""

import itertools
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.conf import settings
from redis import Redis

from identity.limits.models import Counter
from tests.support import redis_server, second
from tests.support.cast import PASSWORD, World
from tests.support.metrics import SIGN_IN, TOKEN, figure
from tests.support.operators import Operator, administrator
from tests.support.redis_server import RedisServer
from tests.support.threads import at_once

FAILURES = 4


@dataclass(frozen=True)
class Nodes:
    """Two servers of one installation, and the Redis between them."""

    redis: RedisServer
    addresses: tuple[str, str]


@pytest.fixture
def nodes(address: str) -> Iterator[Nodes]:
    with ExitStack() as running:
        redis = running.enter_context(redis_server.running())
        environment = {
            "BASE_URL": address,
            "CACHE_URL": redis.url,
            "LOCK_PAIR_FAILURES": str(FAILURES),
            "METRICS_TOKEN": TOKEN,
        }

        def node() -> str:
            port = str(second.free_port())
            running.enter_context(second.running(PORT=port, **environment))
            return f"http://127.0.0.1:{port}"

        yield Nodes(redis, (node(), node()))


def attempt(node: str, world: World, who: str, password: str = "wrong") -> httpx.Response:
    answer = world.at(node).post(SIGN_IN, json={"identifier": who, "password": password})
    assert answer.status_code in {200, 401}
    return answer


def is_locked(answer: httpx.Response) -> bool:
    return answer.status_code == 401 and "Retry-After" in answer.headers


def guesses_until_locked(nodes: Nodes, world: World, who: str) -> int:
    for number, node in enumerate(itertools.cycle(nodes.addresses)):
        answer = attempt(node, world, who)
        assert answer.elapsed.total_seconds() < 10  # a frozen cache holds up nobody
        if is_locked(answer):
            return number
        assert number < 3 * FAILURES
    raise AssertionError


def rows(world: World) -> int:
    with world.active():
        return Counter.objects.count()


def new_name() -> str:
    return f"ada-{secrets.token_hex(4)}"


def comes_true(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_nodes_count_together_and_without_a_row(nodes, acme):
    user = acme.user()

    assert guesses_until_locked(nodes, acme, user.username) == FAILURES
    assert is_locked(attempt(nodes.addresses[1], acme, user.username, PASSWORD))
    assert rows(acme) == 0
    assert figure(nodes.addresses[0], "gatehouse_limits_counted_total", store="redis") >= FAILURES / 2
    with Redis.from_url(nodes.redis.url) as redis:
        kept = [key.decode() for key in redis.scan_iter()]
    host = settings.BASE_URL.partition("//")[2]
    assert kept
    assert all(key.startswith(f"gatehouse:{host}:limits:{acme.tenant.pk}:") for key in kept)
    assert user.username not in str(kept)


@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_fault_R5_redis_goes_in_the_middle_of_guessing_and_the_lock_still_comes(nodes, acme, how):
    who = new_name()
    for node in nodes.addresses:
        attempt(node, acme, who)

    getattr(nodes.redis, how)()

    assert guesses_until_locked(nodes, acme, who) <= FAILURES
    assert rows(acme) > 0
    for node in nodes.addresses:
        assert figure(node, "gatehouse_shared_cache_failures_total") >= 1
        assert figure(node, "gatehouse_limits_counted_total", store="database") >= 1


def test_fault_R5_at_once_while_it_is_frozen(nodes, acme):
    user = acme.user()
    nodes.redis.freeze()

    answers = at_once(8, lambda index: attempt(nodes.addresses[index % 2], acme, user.username))

    assert sorted(map(is_locked, answers)) == [False] * FAILURES + [True] * (8 - FAILURES)


def test_fault_R5_redis_comes_back_and_is_used_again(nodes, acme):
    nodes.redis.kill()
    attempt(nodes.addresses[0], acme, new_name())
    nodes.redis.start()

    def is_used() -> Any:
        attempt(nodes.addresses[0], acme, new_name())
        with Redis.from_url(nodes.redis.url) as redis:
            return bool(redis.dbsize())

    comes_true(is_used)
    assert guesses_until_locked(nodes, acme, new_name()) == FAILURES


def test_the_dashboard_does_without_it(nodes, acme):
    nodes.redis.kill()
    operator = Operator(administrator())
    operator.http.base_url = httpx.URL(nodes.addresses[0])
    operator.sign_in()

    shown = operator.choose(acme).get("/admin/")

    assert shown.status_code == 200
    assert acme.tenant.name in shown.text
