"""What a request may cost in statements. Beginnings and ends of transactions do not count.

Two kinds of numbers: budgets that were promised (``at most``), and the present price of whole
journeys (``exactly``), pinned so that a statement more or less is noticed and thought about.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from database.redis import shared_redis
from oidc.applications import services as applications
from tests.support import budgets, redis_server
from tests.support.cast import PASSWORD, RelyingParty, World, query_of
from tests.support.endpoints import written_endpoints
from tests.support.in_process import SurfacesWorld
from tests.support.independent import bearer, header_of
from tests.support.statement_costs import Inside, chained, cost, refreshed


@pytest.fixture
def inside(acme: World) -> Inside:
    browser = Inside(acme)
    browser.get("/.well-known/openid-configuration")  # the worker knows the tenant from now on
    return browser


@pytest.fixture
def client(acme: World) -> RelyingParty:
    return acme.application()


def asked(client: RelyingParty, code: str) -> dict[str, str]:
    return {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": "https://rp.example/callback",
        "code_verifier": client.verifier,
        "client_id": client.client_id,
        "client_secret": client.secret,
    }


def test_every_endpoint_has_a_budget():
    # The site has a line for each of its addresses instead.
    endpoints = {f"{row.method} {row.path}" for row in written_endpoints() if not row.path.endswith("*")}

    assert sorted(endpoints - budgets.table().keys()) == []


def test_what_exceeds_its_budget_is_named(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    seen.write_text("GET /healthz\t0\nGET /oidc/userinfo\t1000\nPUT /oidc/userinfo\t1000\nGET /new\t0\n")
    monkeypatch.setattr(budgets, "SEEN", seen)

    found = [line.partition(":")[0] for line in budgets.exceeded()]

    assert found == ["GET /new", "GET /oidc/userinfo", "PUT /oidc/userinfo"]


class TestTokenEndpoint:
    def test_client_credentials_write_once_and_read_nothing(self, acme, inside):
        machine = SurfacesWorld.of(acme).application("MachineToMachine")
        ask = partial(machine.token, grant_type="client_credentials")

        costs = [cost(ask) for _ in range(3)]

        # The first request also records the usage of the signing key, and loads it.
        assert costs[1:] == [(0, 1), (0, 1)]

    def test_client_credentials_without_a_plan_cost_a_read_more(self, acme, inside):
        machine = acme.application("MachineToMachine")
        form = {
            "grant_type": "client_credentials",
            "client_id": machine.client_id,
            "client_secret": machine.secret,
        }
        inside.post("/oidc/token", form)  # the signing key is loaded from now on

        reads, writes = cost(lambda: inside.post("/oidc/token", form))

        assert (reads, writes) == (1, 1)

    @pytest.mark.parametrize("scope", ["openid", "openid profile email phone offline_access"])
    def test_a_code_costs_at_most_six(self, acme, inside, client, scope):
        user, browser = acme.user(), acme.browser()
        first, second = (browser.code_for(client, user, scope=scope) for _ in range(2))
        inside.post("/oidc/token", asked(client, first))

        reads, writes = cost(lambda: inside.post("/oidc/token", asked(client, second)))

        assert reads + writes <= 6

    def test_a_refresh_costs_a_read_and_a_change(self, acme, inside, client):
        token = client.tokens_for(acme.user())["refresh_token"]
        token = inside.post("/oidc/token", refreshed(client, token)).json()["refresh_token"]

        reads, writes = cost(lambda: inside.post("/oidc/token", refreshed(client, token)))

        assert (reads, writes) == (1, chained(2))

    def test_decision_P4_an_algorithm_of_its_own_costs_a_refresh_no_statement(self, acme, inside, client):
        with acme.active():
            applications.change(client.application, {"id_token_signed_response_alg": "RS256"}, is_proven=True)
        token = client.tokens_for(acme.user())["refresh_token"]
        answer = inside.post(
            "/oidc/token", refreshed(client, token)
        ).json()  # both keys are loaded from now on

        price = cost(lambda: inside.post("/oidc/token", refreshed(client, answer["refresh_token"])))

        assert header_of(answer["id_token"])["alg"] == "RS256"
        assert price == (1, chained(2))

    def test_a_retry_of_a_refresh_costs_at_most_six(self, acme, inside, client):
        token = client.tokens_for(acme.user())["refresh_token"]
        inside.post("/oidc/token", refreshed(client, token))

        reads, writes = cost(lambda: inside.post("/oidc/token", refreshed(client, token)))

        assert reads + writes <= 6

    def test_case_C03_a_wrong_secret_costs_the_same_as_an_unknown_client(self, acme, inside, client):
        form = {"grant_type": "client_credentials", "client_id": client.client_id, "client_secret": "wrong"}

        strange = form | {"client_id": "0" * 24}
        for body in (form, strange):
            inside.post("/oidc/token", body)  # they are counted from now on

        known = cost(lambda: inside.post("/oidc/token", form), 401)
        unknown = cost(lambda: inside.post("/oidc/token", strange), 401)

        # Besides the audit entry, the counts of what went wrong: for the address, and for the client there.
        assert known == unknown == (1, 3)


class TestReads:
    @pytest.mark.parametrize("scope", ["openid", "openid profile email phone offline_access"])
    def test_userinfo_costs_one(self, acme, inside, client, scope):
        token = client.tokens_for(acme.user(), scope=scope)["access_token"]
        inside.get("/oidc/userinfo", headers=bearer(token))

        reads, writes = cost(lambda: inside.get("/oidc/userinfo", headers=bearer(token)))

        assert reads <= 1
        assert writes == 0

    def test_userinfo_of_garbage_costs_nothing(self, inside):
        assert cost(lambda: inside.get("/oidc/userinfo", headers=bearer("a.b.c")), 401) == (0, 0)

    def test_the_key_set_costs_one_once_it_is_kept(self, inside):
        inside.get("/.well-known/jwks.json")

        reads, writes = cost(lambda: inside.get("/.well-known/jwks.json"))

        assert reads <= 1
        assert writes == 0

    def test_decision_P2_discovery_costs_one_read_once_the_tenant_is_known(self, inside):
        assert cost(lambda: inside.get("/.well-known/openid-configuration")) == (1, 0)


class TestJourney:
    """Exactly what they cost today: reads, then writes."""

    def test_to_the_code_by_way_of_the_sign_in_page(self, acme, inside, client):
        user = acme.user()
        inside.post("/oidc/token", asked(client, acme.browser().code_for(client, user)))
        journey = {}
        pages = {}

        def step(name: str, call: Callable[[], Any], status: int = 303) -> None:
            def keep() -> Any:
                pages[name] = call()
                return pages[name]

            journey[name] = cost(keep, status)

        step("authorize", lambda: inside.get("/oidc/authorize", data=client.request()))
        step("page", lambda: inside.get(pages["authorize"].headers["Location"]), 200)
        interaction = query_of(pages["authorize"].headers["Location"])["interaction"]
        form = {"identifier": user.username, "password": PASSWORD, "interaction": interaction}
        step("sign in", lambda: inside.post("/sign-in", form))
        step("resume", lambda: inside.get(pages["sign in"].headers["Location"]))
        code = query_of(pages["resume"].headers["Location"])["code"]
        step("code", lambda: inside.post("/oidc/token", asked(client, code)), 200)

        assert journey == {
            # The hit of the address, with the pending request.
            "authorize": (1, chained(2)),
            # Two reads ask which connectors there are: for messages, and for other providers.
            "page": (4, 0),
            # One write counts: address, pair and identifier. A success undoes two of them in its chain,
            # with the writes of user, session, pending request and entry.
            "sign in": (3, 1 + chained(5)),
            "resume": (1, chained(2)),
            "code": (1, chained(3)),
        }

    def test_to_the_code_with_a_live_session(self, acme, inside, client):
        user = acme.user()
        inside.send("/api/interaction/sign-in", {"identifier": user.username, "password": PASSWORD})

        price = cost(lambda: inside.get("/oidc/authorize", data=client.request()), 303)

        assert price == (2, 1)

    def test_through_the_interaction_api(self, acme, inside, client):
        user = acme.user()
        sent = inside.get("/oidc/authorize", data=client.request()).headers["Location"]
        body = {
            "identifier": user.username,
            "password": PASSWORD,
            "interaction": query_of(sent)["interaction"],
        }

        price = cost(lambda: inside.send("/api/interaction/sign-in", body))

        assert price == (2, 1 + chained(5))

    def test_limits_that_redis_counts_cost_no_statement(self, acme, inside, settings):
        right = {"identifier": acme.user().username, "password": PASSWORD}
        wrong = right | {"password": "x"}

        def prices() -> list[tuple[int, int]]:
            return [
                cost(lambda: Inside(acme).send("/api/interaction/sign-in", right)),
                cost(lambda: Inside(acme).send("/api/interaction/sign-in", wrong), 401),
            ]

        (reads, writes), (reads_of_wrong, writes_of_wrong) = prices()
        with redis_server.running() as redis:
            settings.CACHE_URL = redis.url
            shared_redis.cache_clear()
            in_redis = prices()
        shared_redis.cache_clear()

        # Successes are counted and undone, failures are only counted.
        assert in_redis == [(reads, writes - chained(2)), (reads_of_wrong, writes_of_wrong - 1)]

    def test_of_taking_tokens_back(self, acme, inside, client):
        tokens = client.tokens_for(acme.user())
        credentials = {"client_id": client.client_id, "client_secret": client.secret}
        inside.get("/oidc/userinfo", headers=bearer(tokens["access_token"]))  # the public key is loaded

        access = cost(lambda: inside.post("/oidc/revoke", {"token": tokens["access_token"]} | credentials))
        family = cost(lambda: inside.post("/oidc/revoke", {"token": tokens["refresh_token"]} | credentials))
        again = cost(lambda: inside.post("/oidc/revoke", {"token": tokens["refresh_token"]} | credentials))

        assert (access, family, again) == ((1, chained(2)), (2, chained(2)), (2, 1))
