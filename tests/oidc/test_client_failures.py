"""Decision O6, case C17: who is wrong too often is told so; who is right is served all the same."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace

import httpx
import pytest

from audit.models import Entry
from identity.limits.models import Counter
from tests.support import second
from tests.support.cast import RelyingParty, World
from tests.support.threads import at_once

HERE, ELSEWHERE = "192.0.2.1", "198.51.100.1"
MOST = 50
UNKNOWN = "0123456789abcdef01234567"


@pytest.fixture(scope="module")
def guarded(address: str) -> Iterator[str]:
    """A server with the limit of production, behind a proxy that the tests are."""
    with second.running(TRUSTED_PROXIES="127.0.0.1", LIMIT_CLIENT_FAILURES=str(MOST)) as address_:
        yield address_


@pytest.fixture
def world(guarded: str, acme: World) -> World:
    return acme.at(guarded)


@pytest.fixture
def robot(world: World) -> RelyingParty:
    return world.application("MachineToMachine")


def ask(robot: RelyingParty, secret: str = "wrong", ip: str = HERE, path: str = "/oidc/token"):
    form = {"grant_type": "client_credentials"} if path == "/oidc/token" else {"token": "x"}
    return robot.world.post(path, data=form, auth=(robot.client_id, secret), headers={"X-Forwarded-For": ip})


def wrong_too_often(robot: RelyingParty) -> None:
    statuses = [ask(robot).status_code for _ in range(MOST)]
    assert statuses == [401] * MOST


def is_told_to_wait(answer: httpx.Response) -> bool:
    assert answer.headers["Cache-Control"] == "no-store"
    assert 500 < int(answer.headers["Retry-After"]) <= 601
    return (answer.status_code, answer.json()["error"]) == (429, "temporarily_unavailable")


def test_case_C17_after_50_wrong_secrets_the_right_one_is_still_served(robot):
    wrong_too_often(robot)

    assert is_told_to_wait(ask(robot))
    assert is_told_to_wait(ask(robot, path="/oidc/revoke"))
    assert [ask(robot, robot.secret).status_code for _ in range(3)] == [200] * 3
    assert ask(robot, robot.secret, path="/oidc/revoke").status_code == 200
    assert is_told_to_wait(ask(robot)), "being right does not give the guesser new tries"


def test_case_C17_counts_for_one_client_at_one_address(world, robot):
    other = world.application("MachineToMachine")
    wrong_too_often(robot)

    assert ask(robot, ip=ELSEWHERE).status_code == 401
    assert ask(other).status_code == 401


def test_case_C17_tells_nothing_of_which_clients_there_are(robot):
    application = copy(robot.application)
    application.client_id = UNKNOWN
    nobody = replace(robot, application=application)
    for party in (robot, nobody):
        wrong_too_often(party)

    known, unknown = ask(robot), ask(nobody)

    assert is_told_to_wait(known)
    assert is_told_to_wait(unknown)
    assert known.content == unknown.content


def test_case_C17_both_endpoints_count_together_and_all_at_once(robot):
    paths = ["/oidc/token", "/oidc/revoke"] * 30

    answers = at_once(len(paths), lambda index: ask(robot, path=paths[index]))

    assert sorted(answer.status_code for answer in answers) == [401] * MOST + [429] * 10


def test_case_C17_a_flood_of_guesses_fills_no_audit_log(acme, robot):
    wrong_too_often(robot)
    for _ in range(5):
        ask(robot)

    # Twenty one by one, then one a minute.
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, payload__error="invalid_client")
    assert 20 < entries.count() <= 23
    assert {entry.payload["client_id"] for entry in entries} == {robot.client_id}
    with acme.active():
        counters = list(Counter.objects.values())
    assert [row["count"] for row in counters if row["kind"] == "client failures"] == [MOST]
    assert robot.client_id not in str(counters)
    assert HERE not in str(counters)


@pytest.mark.parametrize(("kind", "fewest", "most"), [("SPA", 20, 23), ("Traditional", 30, 30)])
def test_case_C17_each_failure_is_recorded_of_a_client_that_proved_itself(acme, world, kind, fewest, most):
    """A public client proves nothing, so any client could fill the log in its name."""
    client = world.application(kind)
    proof = {"auth": None, "client_id": client.client_id} if kind == "SPA" else {}

    answers = [client.redeem("wrong", **proof) for _ in range(30)]

    assert {answer.json()["error"] for answer in answers} == {"invalid_grant"}
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, payload__error="invalid_grant")
    assert fewest <= entries.count() <= most
    assert {entry.payload["client_id"] for entry in entries} == {client.client_id}


def test_case_C17_a_wrong_secret_with_a_code_uses_nothing_up(acme, world):
    client = acme.application()
    code = acme.browser().code_for(client, acme.user())
    there = replace(client, world=world)

    answers = [there.redeem(code, auth=(client.client_id, "wrong")) for _ in range(MOST + 1)]

    assert [answer.status_code for answer in answers] == [401] * MOST + [429]
    assert client.redeem(code).status_code == 200
