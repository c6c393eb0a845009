"""Connections on which public documents are requested: in which order, how fresh, and when they end."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from oidc.keys import services as keys
from tests.support.independent import kids
from tests.support.kept import KNOWN, Kept, warm
from tests.support.threads import rounds

JWKS = "/.well-known/jwks.json"
DISCOVERY = "/.well-known/openid-configuration"
FORM = "Content-Type: application/x-www-form-urlencoded"


def token(connection: Kept, grant: str) -> bytes:
    """Return a request to the token endpoint, whose answer names the grant or the parameter."""
    body = f"grant_type={grant}"
    head = connection.head("/oidc/token", FORM, f"Content-Length: {len(body)}", method="POST")
    return head + body.encode()


@contextmanager
def hammered(address: str, *paths: str) -> Iterator[None]:
    """Request documents on eight connections, again and again, during the block."""
    is_over = threading.Event()
    wrong: list[object] = []

    def hammer(number: int) -> None:
        with Kept(address) as connection:
            while not is_over.is_set():
                answer = connection.get(paths[number % len(paths)])
                if answer.status != 200:
                    wrong.append(answer)

    threads = [threading.Thread(target=hammer, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert wrong == []


class TestChanges:
    """The next request after a change gets it, on every worker, however many requests share reads."""

    def test_of_keys(self, acme):
        with ExitStack() as stack:
            connections = [stack.enter_context(Kept(acme.address)) for _ in range(8)]
            for connection in connections:
                warm(connection)
            stack.enter_context(hammered(acme.address, JWKS, DISCOVERY))
            first = kids(acme)[0]
            for _ in range(rounds(8)):
                with acme.active():
                    prepared = keys.prepare()
                assert all(str(prepared.pk).encode() in c.get(JWKS).body for c in connections)

                with acme.active():
                    keys.remove(prepared)
                assert not any(str(prepared.pk).encode() in c.get(JWKS).body for c in connections)

            with acme.active():
                keys.prepare()
                keys.rotate()
            assert all(first != c.get(JWKS).body.partition(b'"kid":"')[2][:36].decode() for c in connections)

    def test_of_algorithms(self, acme):
        with Kept(acme.address) as one, Kept(acme.address) as other, hammered(acme.address, DISCOVERY):
            for connection in (one, other):
                assert b"EdDSA" not in warm(connection, DISCOVERY).body
            with acme.active():
                keys.ensure("EdDSA")
            assert b"EdDSA" in one.get(DISCOVERY).body
            assert b"EdDSA" in other.get(DISCOVERY).body

    def test_the_same_head_is_another_request_in_another_tenant(self, acme, rival):
        with Kept(acme.address) as connection:
            for _ in range(KNOWN):
                found = []
                for world in (acme, rival):
                    connection.prefix = f"/t/{world.tenant.slug}"
                    found.append(connection.get(JWKS).body)
                assert kids(acme)[0].encode() in found[0]
                assert kids(rival)[0].encode() in found[1]


class TestOrder:
    """Answers come in the order of the requests."""

    def test_of_requests_in_one_packet(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            document = connection.head(JWKS)
            connection.send(document, token(connection, "a"), document, document, token(connection, ""))

            statuses = [connection.read().status for _ in range(5)]

        assert statuses == [200, 400, 200, 200, 400]

    def test_of_requests_in_a_packet_each(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            document = connection.head(JWKS)
            for _ in range(20):
                for part in (document, token(connection, "a"), document, document):
                    connection.send(part)
                assert [connection.read().status for _ in range(4)] == [200, 400, 200, 200]

    @pytest.mark.parametrize("cut", [1, 4, 30, -3, -1])
    def test_of_a_head_in_two_packets(self, acme, cut):
        with Kept(acme.address) as connection:
            warm(connection)
            document = connection.head(JWKS)
            for before in (b"", document, token(connection, "a") + document):
                connection.send(before, document[:cut])
                time.sleep(0.05)
                connection.send(document[cut:])
                requests = (before + document).count(b" HTTP/1.1")
                statuses = [connection.read().status for _ in range(requests)]
                assert statuses == [400, 200, 200][3 - requests :]

    def test_a_known_head_as_a_body_is_a_body(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            document = connection.head(JWKS)
            for _ in range(2):
                connection.send(
                    connection.head("/oidc/token", FORM, f"Content-Length: {len(document)}", method="POST")
                )
                time.sleep(0.05)
                connection.send(document)
                assert connection.read().status == 400
                assert connection.get(JWKS).status == 200

    def test_a_known_head_behind_a_part_of_another_is_not_taken_for_itself(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            connection.send(b"GET /nothing HTTP/1.1\r\nHost: x\r\nX-Rest: ")
            time.sleep(0.05)
            connection.send(connection.head(JWKS))

            assert connection.read().status == 400  # two Host headers

    def test_a_known_head_behind_an_empty_line(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            connection.send(b"\r\n")
            time.sleep(0.05)
            connection.send(connection.head(JWKS))

            assert connection.read().status == 200
            assert connection.get(JWKS).status == 200


class TestEnds:
    """A connection ends as for every other request."""

    def test_if_the_client_asks_for_it(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            answer = connection.get(JWKS, "Connection: close")

            assert (answer.status, answer.headers["connection"]) == (200, "close")
            assert connection.is_closed()

    def test_if_the_protocol_is_old(self, acme):
        with Kept(acme.address) as connection:
            for _ in range(KNOWN):
                connection.send(connection.head(JWKS, "Connection: keep-alive", version="HTTP/1.0"))
                assert b'"keys"' in connection.read().body
            connection.send(connection.head(JWKS, version="HTTP/1.0"))

            assert b'"keys"' in connection.read().body
            assert connection.is_closed()

    def test_if_the_client_has_closed_its_side(self, acme):
        for requests in (1, 2, 5):
            with Kept(acme.address) as connection:
                warm(connection)
                connection.send(connection.head(JWKS) * requests)
                connection.end()

                assert [connection.read().status for _ in range(requests)] == [200] * requests
                assert connection.is_closed()

    def test_if_a_part_of_a_request_is_the_last_thing(self, acme):
        with Kept(acme.address) as connection:
            warm(connection)
            connection.send(connection.head(JWKS))
            connection.send(b"GET /")
            connection.end()

            assert connection.read().status == 200
            assert connection.is_closed()

    def test_clients_that_leave_before_their_answer_harm_nobody(self, acme):
        with Kept(acme.address) as other, hammered(acme.address, JWKS):
            document = other.head(JWKS)
            for _ in range(50):
                with Kept(acme.address) as connection:
                    warm(connection)
                    connection.send(document)

            assert other.get(JWKS).status == 200


def test_heads_that_are_not_kept(acme):
    """Heads with a secret are not kept, and long ones are parsed each time; all are answered."""
    with Kept(acme.address) as connection:
        for headers in (["Cookie: a=b"], ["Authorization: Bearer x"], [f"A: {'x' * 5_000}"], ["A: b"]):
            for _ in range(KNOWN):
                assert connection.get(JWKS, *headers).status == 200
