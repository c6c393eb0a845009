"""Requests that a worker serves in batches get the same answers as requests that it serves one by one."""

from tests.support import cast
from tests.support.batching import (
    METRICS_TOKEN,
    new_families,
    new_machine,
    only_postgresql,
    origin,
    origins_of,
)
from tests.support.cast import World
from tests.support.independent import claims_of, key_set, verified
from tests.support.simultaneous import (
    Request,
    count_transactions,
    entries_locked,
    refresh_request,
    send,
    sending,
    token_request,
    userinfo_request,
    wait_for_waiting,
)

MOST = 32


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
        assert len(transactions) < 75  # the last requests arrive one by one on a slow machine
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
        f"{world.address.partition('/t/')[0]}/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}
    )
    name = 'gatehouse_http_requests_total{method="POST",route="oidc:token",status="200"} '
    return float(answer.text.partition(name)[2].partition("\n")[0] or 0)
