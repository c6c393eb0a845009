"""What happens at once: real threads against the real server, on the database of production.

SQLite lets one transaction write at a time, so it has nothing to show here.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import cycle, islice
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F

from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.grants.models import RefreshFamily
from tests.support import management, second, signing_keys
from tests.support.cast import RelyingParty, World
from tests.support.threads import THOROUGH, rounds

pytestmark = pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)

ROUNDS = rounds(20)
USES = 30 if THOROUGH else 10


@pytest.fixture(scope="module")
def node(address: str) -> Iterator[str]:
    """A second node: a server of its own on the same database, under the same issuer."""
    port = second.free_port()
    with second.running(BASE_URL=settings.BASE_URL, PORT=str(port)):
        yield f"http://127.0.0.1:{port}"


def on_both(client: RelyingParty, node: str) -> list[RelyingParty]:
    """Return the application as it talks to the first node, and to the second."""
    return [client, replace(client, world=client.world.at(node))]


def by_turns(calls: Sequence[Callable[[], Any]], number: int) -> list[Callable[[], Any]]:
    """Return so many of these calls, one after the other and again from the beginning."""
    return list(islice(cycle(calls), number))


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Run the calls together, each in a thread of its own, and return what they returned."""
    ready = Barrier(len(calls))

    def start(call: Callable[[], Any]) -> Any:
        ready.wait()
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [running.result() for running in [pool.submit(start, call) for call in calls]]


def statuses(answers: list[httpx.Response]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def errors(answers: list[httpx.Response]) -> set[str]:
    return {answer.json()["error"] for answer in answers if answer.status_code != 200}


def winner(answers: list[httpx.Response]) -> dict[str, Any]:
    """Return the tokens of the one answer that has any."""
    [won] = [answer for answer in answers if answer.status_code == 200]
    return dict(won.json())


def is_refused(client: RelyingParty, refresh_token: str) -> bool:
    answer = client.refresh(refresh_token)
    return answer.status_code == 400 and answer.json()["error"] == "invalid_grant"


def family_of(client: RelyingParty) -> RefreshFamily:
    with client.world.active():
        return RefreshFamily.objects.filter(application=client.application).latest("pk")


def suspend(world: World, user: User) -> None:
    with world.active():
        users.suspend(user)


def delete(world: World, user: User) -> None:
    with world.active():
        users.remove(user)


def delete_application(client: RelyingParty) -> None:
    with client.world.active():
        applications.remove(client.application)


def end_the_grace(client: RelyingParty) -> None:
    """Let eleven seconds pass since the last rotation of the application's newest family."""
    with client.world.active():
        RefreshFamily.objects.filter(pk=family_of(client).pk).update(
            rotated_at=F("rotated_at") - timedelta(seconds=11)
        )


class TestCodeAtOnce:
    def test_decision_O7_case_B12_M01_on_two_nodes_one_set_of_tokens_is_given_that_then_dies(
        self, acme, node
    ):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        parties = on_both(client, node)

        for _ in range(ROUNDS):
            code = browser.code_for(client, user)
            answers = at_once(*by_turns([partial(party.redeem, code) for party in parties], USES))

            assert statuses(answers) == [200] + [400] * (USES - 1)
            assert errors(answers) == {"invalid_grant"}
            tokens = winner(answers)
            assert client.userinfo(tokens["access_token"]).status_code == 401
            assert is_refused(client, tokens["refresh_token"])

    def test_decision_O7_without_a_family_the_access_token_itself_dies(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()

        for _ in range(ROUNDS):
            code = browser.code_for(client, user, scope="openid profile")
            answers = at_once(*[partial(client.redeem, code)] * 6)

            assert statuses(answers) == [200, 400, 400, 400, 400, 400]
            assert errors(answers) == {"invalid_grant"}
            tokens = winner(answers)
            assert "refresh_token" not in tokens
            assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_case_B02_another_client_in_the_race_neither_wins_nor_spoils_it(self, acme):
        client, thief = acme.application(), acme.application(name="Thief")
        user, browser = acme.user(), acme.browser()

        for _ in range(ROUNDS):
            code = browser.code_for(client, user)
            ours, *theirs = at_once(
                partial(client.redeem, code),
                *[partial(thief.redeem, code, code_verifier=client.verifier)] * 3,
            )

            assert ours.status_code == 200
            assert statuses(theirs) == [400, 400, 400]
            assert client.userinfo(ours.json()["access_token"]).status_code == 200

    def test_case_B13_a_redemption_during_a_suspension_leaves_nothing_alive(self, acme):
        client = acme.application()

        for _ in range(ROUNDS):
            user = acme.user()
            code = acme.browser().code_for(client, user)
            answer, _suspended = at_once(partial(client.redeem, code), partial(suspend, acme, user))

            assert answer.status_code in {200, 400}
            if answer.status_code == 200:
                assert client.userinfo(answer.json()["access_token"]).status_code == 401
                assert is_refused(client, answer.json()["refresh_token"])

    def test_a_code_that_vanishes_with_its_user_is_refused_and_never_a_failure(self, acme):
        client = acme.application()

        for _ in range(ROUNDS):
            user = acme.user()
            code = acme.browser().code_for(client, user)
            answers = at_once(
                *[partial(client.redeem, code)] * 3,
                partial(delete, acme, user),
            )[:3]

            assert set(statuses(answers)) <= {200, 400}
            assert errors(answers) <= {"invalid_grant"}


class TestApplicationAtOnce:
    def test_case_M13_no_token_is_issued_once_the_deletion_of_its_application_returned(self, acme, node):
        user, browser = acme.user(), acme.browser()
        admin = management.superuser(acme.at(node))

        for _ in range(ROUNDS):
            client, robot = acme.application(), acme.application("MachineToMachine")
            code = browser.code_for(client, user)
            asking = [
                partial(client.redeem, code),
                partial(robot.token, grant_type="client_credentials"),
            ]
            *answers, _, _ = at_once(
                *[call for party_call in asking for call in [party_call] * 2],
                partial(admin.delete, f"/applications/{client.application.pk}"),
                partial(admin.delete, f"/applications/{robot.application.pk}"),
            )
            afterwards = [call() for call in asking]

            assert set(statuses(answers)) <= {200, 400, 401}
            assert errors(answers) <= {"invalid_grant", "invalid_client"}
            assert statuses(afterwards) == [401, 401]
            for answer in answers[:2]:
                if answer.status_code == 200:
                    assert client.userinfo(answer.json()["access_token"]).status_code == 401
            for answer in answers[2:]:
                if answer.status_code == 200:
                    caller = management.Caller(acme, answer.json()["access_token"])
                    assert caller.get("/users").status_code == 401


class TestKeysAtOnce:
    def test_case_F20_rotations_on_two_nodes_leave_one_active_key(self, acme, node):
        callers = [management.superuser(world) for world in (acme, acme.at(node))]
        rotations = [partial(caller.post, "/signing-keys/rotate") for caller in callers]

        for _ in range(ROUNDS // 4):
            answers = at_once(*by_turns(rotations, 4))

            assert statuses(answers) == [200] * 4
            listed = management.result_of(callers[0].get("/signing-keys"))
            assert [key["status"] for key in listed].count("active") == 1
            signing_keys.delete_previous(acme)


class TestRefreshAtOnce:
    def test_decision_O7_case_D04_M02_on_two_nodes_all_uses_get_one_successor(self, acme, node):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        parties = on_both(client, node)
        refresh_token = client.tokens_for(user, browser)["refresh_token"]

        for _ in range(ROUNDS):
            before = family_of(client).generation
            answers = at_once(*by_turns([partial(party.refresh, refresh_token) for party in parties], USES))

            assert statuses(answers) == [200] * USES
            successors = {answer.json()["refresh_token"] for answer in answers}
            assert len(successors) == 1
            assert len({answer.json()["access_token"] for answer in answers}) == USES
            assert family_of(client).generation == before + 1
            # The next round begins with the successor: it is as good as any refresh token.
            refresh_token = successors.pop()

    def test_decision_O7_all_answers_of_a_retry_carry_live_access_tokens(self, acme):
        client, user = acme.application(), acme.user()
        refresh_token = client.tokens_for(user)["refresh_token"]

        answers = at_once(*[partial(client.refresh, refresh_token)] * 8)

        assert [client.userinfo(answer.json()["access_token"]).status_code for answer in answers] == [200] * 8

    def test_case_D03_a_replay_after_the_grace_kills_the_family(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()

        for _ in range(ROUNDS):
            first = client.tokens_for(user, browser)
            newest = client.refresh(first["refresh_token"]).json()
            end_the_grace(client)
            answers = at_once(*[partial(client.refresh, first["refresh_token"])] * 3)

            assert statuses(answers) == [400, 400, 400]
            assert errors(answers) == {"invalid_grant"}
            assert is_refused(client, newest["refresh_token"])
            assert client.userinfo(newest["access_token"]).status_code == 401

    def test_case_D04_a_replay_beside_the_right_token_leaves_one_branch_or_none(self, acme, node):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        _, there = on_both(client, node)

        for _ in range(ROUNDS):
            first = client.tokens_for(user, browser)["refresh_token"]
            successor = client.refresh(first).json()["refresh_token"]
            end_the_grace(client)
            replay, rightful = at_once(partial(there.refresh, first), partial(client.refresh, successor))

            # The replay comes before the rightful use or after it: either way it ends the family.
            assert replay.status_code == 400
            assert rightful.status_code in {200, 400}
            if rightful.status_code == 200:
                assert is_refused(client, rightful.json()["refresh_token"])
                assert client.userinfo(rightful.json()["access_token"]).status_code == 401

    def test_case_M12_after_a_suspension_no_refresh_is_answered(self, acme):
        client = acme.application()

        for _ in range(ROUNDS):
            user = acme.user()
            refresh_token = client.tokens_for(user)["refresh_token"]
            *answers, _suspended = at_once(
                *[partial(client.refresh, refresh_token)] * 4,
                partial(suspend, acme, user),
            )

            assert set(statuses(answers)) <= {200, 400}
            assert errors(answers) <= {"invalid_grant"}
            for answer in answers:
                if answer.status_code == 200:
                    assert is_refused(client, answer.json()["refresh_token"])
                    assert client.userinfo(answer.json()["access_token"]).status_code == 401

    def test_decision_O12_a_revocation_beside_refreshes_leaves_nothing_alive(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()

        for _ in range(ROUNDS):
            refresh_token = client.tokens_for(user, browser)["refresh_token"]
            revocation, *answers = at_once(
                partial(acme.post, "/oidc/revoke", data={"token": refresh_token}, auth=client.basic),
                *[partial(client.refresh, refresh_token)] * 4,
            )

            assert revocation.status_code == 200
            assert set(statuses(answers)) <= {200, 400}
            assert errors(answers) <= {"invalid_grant"}
            assert is_refused(client, refresh_token)
            for answer in answers:
                if answer.status_code == 200:
                    assert is_refused(client, answer.json()["refresh_token"])
                    assert client.userinfo(answer.json()["access_token"]).status_code == 401

    def test_an_application_that_is_deleted_meanwhile_makes_no_failure(self, acme):
        user, browser = acme.user(), acme.browser()

        for _ in range(ROUNDS):
            client = acme.application()
            refresh_token = client.tokens_for(user, browser)["refresh_token"]
            *answers, _removed = at_once(
                *[partial(client.refresh, refresh_token)] * 4, partial(delete_application, client)
            )

            assert set(statuses(answers)) <= {200, 400, 401}
            assert errors(answers) <= {"invalid_grant", "invalid_client"}
            assert client.refresh(refresh_token).status_code == 401

    def test_a_user_who_is_deleted_meanwhile_makes_no_failure(self, acme):
        client = acme.application()

        for _ in range(ROUNDS):
            user = acme.user()
            refresh_token = client.tokens_for(user)["refresh_token"]
            *answers, _removed = at_once(
                *[partial(client.refresh, refresh_token)] * 4,
                partial(delete, acme, user),
            )

            assert set(statuses(answers)) <= {200, 400}
            assert is_refused(client, refresh_token)
