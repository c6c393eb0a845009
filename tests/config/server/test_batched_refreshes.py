"""Refreshes that are served in batches: races for one family, and between two workers."""

import time

from django.db import connection

from identity.users import services as users
from tests.support import batching
from tests.support.batching import new_families, only_postgresql, refresh_all
from tests.support.simultaneous import locked, refresh_request, send, sending, token_request, wait_for_waiting
from tests.support.threads import at_once


class TestOneFamily:
    def test_its_token_sent_at_once_is_rotated_once(self, here):
        client, (tokens,) = new_families(here, 1)
        family, generation = tokens["refresh_token"].split(".")[:2]
        requests = [refresh_request(client, tokens["refresh_token"]) for _ in range(16)]

        assert send(requests) == [200] * 16

        (newest,) = {request.json["refresh_token"] for request in requests}
        assert newest.startswith(f"{family}.{int(generation) + 1}.")
        assert [len(request.entries) for request in requests] == [1] * 16
        refresh_all(client, [{"refresh_token": newest}])

    def test_a_replay_ends_only_its_family(self, here):
        client, first = new_families(here, 6)
        newest = refresh_all(client, refresh_all(client, first))
        sent = [first[0], *newest[1:]]

        statuses = send([refresh_request(client, each["refresh_token"]) for each in sent])

        assert statuses == [400, 200, 200, 200, 200, 200]
        assert send([refresh_request(client, newest[0]["refresh_token"])]) == [400]

    @only_postgresql
    def test_a_lock_on_it_delays_only_its_refresh(self, here, machine):
        client, tokens = new_families(here, 12)
        requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
        requests[6:6] = [token_request(machine) for _ in range(8)]
        family = tokens[4]["refresh_token"].partition(".")[0]

        with (
            locked("SELECT FROM grants_refreshfamily WHERE id = %s FOR UPDATE", family) as session,
            sending(requests) as connections,
        ):
            for number, (request, http) in enumerate(zip(requests, connections, strict=True)):
                if number != 4:
                    request.read(http)
                    assert request.status == 200
            wait_for_waiting(1)
            session.rollback()

        assert requests[4].status == 200


@only_postgresql
def test_batches_of_two_workers_deadlock_with_nothing(acme):
    """While families are rotated in another order, and their users are deleted."""
    with batching.running(WEB_CONCURRENCY="2") as served:
        world = acme.at(served)
        client = world.application()
        people = [world.user() for _ in range(4)]
        tokens = [client.tokens_for(user) for user in people * 4]
        tokens = refresh_all(client, tokens, times=8)
        before = count_deadlocks()

        def refresh(number: int) -> set[int]:
            if number == 2:
                for user in people[:2]:
                    time.sleep(0.2)
                    with world.active():
                        users.remove(user)
            requests = [refresh_request(client, each["refresh_token"]) for each in tokens]
            return {status for _ in range(6) for status in send(requests[:: 1 - 2 * (number % 2)])}

        assert set().union(*at_once(3, refresh)) <= {200, 400}
    assert count_deadlocks() == before


def count_deadlocks() -> int:
    time.sleep(1.5)  # until the sessions have reported them
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
