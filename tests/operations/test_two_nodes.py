"""Two nodes behind nginx: nothing a person or a program does may care which of them it meets."""

import itertools
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.db import connection

from identity.users.models import User
from tests.support import codes, nodes
from tests.support.cast import PASSWORD, Browser, query_of
from tests.support.forms import form
from tests.support.nodes import Cluster
from tests.support.threads import at_once

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="several nodes share PostgreSQL"),
    pytest.mark.skipif(
        not os.environ.get("GATEHOUSE_THOROUGH"), reason="needs nginx: only with GATEHOUSE_THOROUGH=1"
    ),
]

_ADMINISTRATORS = 6
_EACH = 60


@pytest.fixture
def cluster(database: None, tmp_path: Path) -> Iterator[Cluster]:
    with nodes.cluster(tmp_path) as running:
        yield running


@pytest.fixture
def http(cluster: Cluster) -> Iterator[httpx.Client]:
    with cluster.client() as client:
        yield client


class TestNoStickiness:
    def test_fault_R6_a_login_whose_every_request_meets_the_other_node(self, cluster, http, acme):
        served: list[str] = []
        http.event_hooks["response"] = [lambda answer: served.append(answer.headers["X-Served-By"])]
        world = acme.at(cluster.address)
        client, user = world.application(), world.user()
        browser = Browser(world, http)

        page = browser.get(browser.authorize(client).headers["Location"])
        answer = form(page).submit(browser, identifier=user.username, password="wrong password")
        assert answer.status_code == 422 or "password" in answer.text
        answer = form(answer).submit(browser, identifier=user.username, password=PASSWORD)
        code = query_of(browser.get(answer.headers["Location"]).headers["Location"])["code"]
        exchange = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": client.application.redirect_uris[0],
            "code_verifier": client.verifier,
        }
        tokens = browser.post("/oidc/token", data=exchange, auth=client.basic).json()
        again = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        tokens = browser.post("/oidc/token", data=again, auth=client.basic).json()
        bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
        assert browser.get("/oidc/userinfo", headers=bearer).json()["sub"] == str(user.pk)
        browser.post("/oidc/revoke", data={"token": tokens["refresh_token"]}, auth=client.basic)
        assert browser.get("/oidc/userinfo", headers=bearer).status_code == 401

        assert len(set(served)) == 2
        assert all(one != other for one, other in itertools.pairwise(served))

    def test_fault_R6_codes_and_their_limits_are_one(self, cluster, http, acme):
        to = codes.new_email()
        codes.reachable(acme).user(email=to)
        browser = Browser(acme.at(cluster.address), http)

        assert codes.send(browser, to).status_code == 200
        again = codes.send(browser, to)
        assert (again.status_code, "Retry-After" in again.headers) == (400, True)
        assert {codes.enter(browser, to, "no").status_code for _ in range(5)} == {400}
        assert codes.enter(browser, to, codes.message_to(to)["code"]).status_code == 400


class TestKilled:
    def test_fault_R1_a_node_that_is_killed_loses_no_acknowledged_write(self, cluster, acme):
        """Six administrators create users while one node dies: what was answered 200 is there."""
        credentials = {"username": settings.ADMIN_USERNAME, "password": settings.ADMIN_PASSWORD}
        with cluster.client() as http:
            answer = http.post("/api/admin/sign-in", json=credentials)
        headers = {"Authorization": f"Bearer {answer.json()['result']['access_token']}"}
        victim = next(iter(cluster.nodes))

        def create(index: int) -> list[tuple[str, int]]:
            outcomes = []
            with cluster.client() as http:
                for number in range(_EACH):
                    if (index, number) == (0, _EACH // 4):
                        cluster.kill(victim)
                    name = f"r1-{secrets.token_hex(6)}"
                    body = {"username": name, "password": "a secret password"}
                    answer = http.post(f"/t/{acme.tenant.slug}/api/v1/users", json=body, headers=headers)
                    outcomes.append((name, answer.status_code))
            return outcomes

        outcomes = at_once(_ADMINISTRATORS, create)
        acknowledged = {name for outcome in outcomes for name, status in outcome if status == 200}
        refused = {status for outcome in outcomes for _, status in outcome if status != 200}
        assert len(acknowledged) > _ADMINISTRATORS * _EACH - 30
        # What was on its way through the node that died is told as the gateway's failure, and not sent twice.
        assert refused <= {502, 503, 504}
        with acme.active():
            stored = set(User.objects.filter(username__startswith="r1-").values_list("username", flat=True))
        assert acknowledged <= stored
