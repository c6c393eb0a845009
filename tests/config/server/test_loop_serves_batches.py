"""Batches that the loop of a worker serves, as their clients see them."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from tests.support import cast, second
from tests.support.cast import RelyingParty, World
from tests.support.role_claims import give_roles
from tests.support.simultaneous import (
    Request,
    code_request,
    locked,
    refresh_request,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)

pytestmark = pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has pipelines")
THREADS = 4


@pytest.fixture(scope="module")
def serving(address: str) -> Iterator[str]:
    """The address of a server with the application of production, one worker and four threads."""
    application = {"TEST_APPLICATION": "config.wsgi:application", "THREADS": str(THREADS)}
    with second.running(**application) as served:
        yield served


@pytest.fixture
def here(serving: str) -> World:
    return cast.new_world("Loop").at(serving)


@pytest.fixture
def machine(here: World) -> RelyingParty:
    """A client with a plan."""
    client = here.application("MachineToMachine")
    for _ in range(3):
        assert send([token_request(client) for _ in range(8)]) == [200] * 8
    return client


def refresh_all(client: RelyingParty, tokens: list[dict[str, Any]], times: int) -> list[dict[str, Any]]:
    for _ in range(times):
        requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
        assert send(requests) == [200] * len(tokens), [request.content for request in requests]
        tokens = [request.json for request in requests]
    return tokens


def test_answers_while_all_threads_wait(here, machine):
    client, user = here.application(), here.user()
    browser = here.browser()
    tokens = [client.tokens_for(user, browser) for _ in range(THREADS + 2)]
    *waiting, (free,) = [[each] for each in refresh_all(client, tokens, 3)]
    families = [each["refresh_token"].partition(".")[0] for (each,) in waiting]
    # The worker reads the key that signed the token once.
    assert send([userinfo_request(client, free["access_token"])]) == [200]
    held = [refresh_request(client, each["refresh_token"]) for (each,) in waiting]
    codes = [browser.code_for(client, user) for _ in range(6)]
    assert [send([code_request(client, code)]) for code in codes[:3]] == [[200]] * 3  # with a plan since then

    with ExitStack() as stack:
        statement = "SELECT FROM grants_refreshfamily WHERE id = ANY(%s) FOR UPDATE"
        session = stack.enter_context(locked(statement, families))
        stack.enter_context(sending(held))
        wait_for_waiting(THREADS)
        requests = [token_request(machine) for _ in range(12)]
        requests += [userinfo_request(client, free["access_token"]) for _ in range(4)]
        requests.append(refresh_request(client, free["refresh_token"]))
        requests += [code_request(client, code) for code in codes[3:]]

        assert send(requests) == [200] * 20
        assert [request.status for request in held] == [0] * len(held)
        session.rollback()

    assert [request.status for request in held] == [200] * len(held)


def test_leaves_to_threads_what_needs_further_statements(here, machine):
    client, user = here.application(), here.user(name="Ada")
    give_roles(here, user, "Auditor")
    browser = here.browser()
    plain = client.tokens_for(user, browser, scope="openid offline_access")
    with_roles = client.tokens_for(user, browser, scope="openid offline_access roles")

    for _ in range(4):
        plain, with_roles = refresh_all(client, [plain, with_roles], 1)
        requests: list[Request] = []
        for _ in range(6):
            requests.append(token_request(machine))
            requests.append(userinfo_request(client, plain["access_token"]))
            requests.append(userinfo_request(client, with_roles["access_token"]))
        assert send(requests) == [200] * 18
        assert [request.json.get("roles") for request in requests[1::3]] == [None] * 6
        assert [request.json.get("roles") for request in requests[2::3]] == [["Auditor"]] * 6
