"""What fills a worker's memory: nested lists in custom claims, and long names of headers.

Lists take forty times the memory that their JSON takes.
"""

import gc
import tracemalloc
from io import BytesIO
from typing import Any

import pytest

from config.server import wsgi_requests
from identity.core import tenancy
from identity.tenants.middleware import get_cached
from oidc.keys import signing
from oidc.provider import bearer_queries
from oidc.provider.token import plan_store
from tests.support import cast
from tests.support.cast import RelyingParty
from tests.support.in_process import SurfacesWorld

PER_PLAN = 16 * 1024
NESTED: list[Any] = [[] for _ in range(330)]  # 991 bytes of JSON, 24 KB as objects


@pytest.fixture(autouse=True)
def empty(monkeypatch):
    """This process has no plans and no verified tokens yet."""
    monkeypatch.setattr(plan_store, "_plans", plan_store.Plans())
    signing._find_verified.cache_clear()
    bearer_queries._bind_once.cache_clear()


def new_world() -> SurfacesWorld:
    world = SurfacesWorld.of(cast.new_world("Acme"))
    world.get("/.well-known/openid-configuration")  # the process knows the tenant from now on
    assert get_cached(world.tenant.slug)
    return world


def claims(*places: str, value: Any = NESTED) -> list[dict[str, Any]]:
    return [{"name": f"n{number}", "source": {"value": value}, "into": [*places]} for number in range(4)]


def ask(client: RelyingParty, **form: str) -> str:
    answer = client.token(grant_type="client_credentials", **form)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["access_token"])


def count_plans(client: RelyingParty) -> int:
    tenant = client.world.tenant
    return len(plan_store._plans.get(tenancy.ActiveTenant(tenant.pk, tenant.slug), client.client_id))


def get_growth(work: Any) -> int:
    """Return the bytes that are allocated by ``work`` and not freed."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    work()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before


class TestPlans:
    def test_attack_AP29_the_claims_of_a_plan_are_kept_as_json(self, database):
        world = new_world()
        nested = claims("access_token")[:2]
        machines = [world.application("MachineToMachine", custom_claims=nested) for _ in range(20)]
        plain = world.application("MachineToMachine")
        ask(plain)

        growth = get_growth(lambda: [ask(machine) for machine in machines])

        assert [count_plans(machine) for machine in machines] == [1] * 20
        assert growth < 20 * PER_PLAN

    def test_attack_AP29_an_application_that_takes_much_memory_has_no_plan_for_refreshes(self, database):
        world = new_world()
        client = world.application(custom_claims=claims("userinfo"))
        token = client.tokens_for(world.user())["refresh_token"]

        answer = client.refresh(token)

        assert answer.status_code == 200
        assert count_plans(client) == 0

    def test_attack_AP29_all_plans_take_at_most_so_much(self, database, monkeypatch):
        world = new_world()
        monkeypatch.setattr(plan_store, "_MOST_BYTES", 4 * PER_PLAN)
        machines = [world.application("MachineToMachine") for _ in range(6)]

        for machine in machines:
            for number in range(4):
                ask(machine, x=f"{number}")

        assert 3 * PER_PLAN < plan_store._plans.size <= 4 * PER_PLAN
        assert [count_plans(machine) for machine in machines[-3:]] == [4] * 3

    def test_attack_AP29_a_tenant_displaces_the_plans_of_none_that_has_fewer(self, database, monkeypatch):
        world, attacker = new_world(), new_world()
        machine = world.application("MachineToMachine")
        ask(machine)
        monkeypatch.setattr(plan_store, "_MOST_BYTES", plan_store._plans.size * 4)
        others = [attacker.application("MachineToMachine") for _ in range(6)]

        for other in others:
            ask(other)

        assert count_plans(machine) == 1
        assert [count_plans(other) for other in others] == [0, 0, 0, 1, 1, 1]


class TestVerifiedTokens:
    def test_attack_AP30_an_application_cannot_fill_the_cache_with_its_own_tokens(self, database):
        world = new_world()
        machine = world.application("MachineToMachine", custom_claims=claims("access_token"))
        tokens = [ask(machine) for _ in range(3)]

        for token in tokens:
            read(world, token, 401)

        assert signing._find_verified.cache_info().currsize == 0

    def test_attack_AP30_a_user_cannot_either(self, database):
        world = new_world()
        client = world.application(custom_claims=claims("access_token"))
        token = client.tokens_for(world.user())["access_token"]

        for _ in range(2):
            read(world, token, 200)

        assert signing._find_verified.cache_info().currsize == 0
        assert bearer_queries._bind_once.cache_info().currsize == 0

    def test_attack_AP30_a_short_token_counts_by_its_memory(self, database):
        world = new_world()
        machine = world.application("MachineToMachine", custom_claims=claims("access_token")[:1])
        token = ask(machine)
        assert len(token) < 2_048

        read(world, token, 401)

        assert signing._find_verified.cache_info().currsize == 0

    def test_ordinary_tokens_are_verified_once(self, database):
        world = new_world()
        values = claims("access_token", value="text of a claim")
        token = world.application(custom_claims=values).tokens_for(world.user())["access_token"]

        for _ in range(3):
            read(world, token, 200)

        assert signing._find_verified.cache_info()[:2] == (2, 1)
        assert bearer_queries._bind_once.cache_info()[:2] == (2, 1)


class TestNamesOfHeaders:
    def test_attack_AP32_long_ones_are_not_kept(self):
        [kept] = [each for each in vars(wsgi_requests).values() if hasattr(each, "cache_clear")]
        kept.cache_clear()
        long = [b"x-%d-" % number + b"a" * 8_000 for number in range(20)]
        scope: dict[str, Any] = {
            "method": "GET",
            "http_version": "1.1",
            "scheme": "http",
            "client": None,
            "server": ("x", 80),
            "raw_path": b"/",
            "query_string": b"",
            "headers": [(name, b"1") for name in (*long, b"x-short", b"x_dropped")],
        }

        environ = wsgi_requests.build_environ(scope, BytesIO())

        sent = {name for name in environ if name.startswith("HTTP_")}
        names = [name.decode().upper().replace("-", "_") for name in (*long, b"x-short")]
        assert sent == {f"HTTP_{name}" for name in names}
        assert kept.cache_info().currsize == 2


def read(world: SurfacesWorld, token: str, status: int) -> None:
    answer = world.get("/oidc/userinfo", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == status, answer.text
