"""AP09: a connector's test sent as many text messages as somebody with a token asked for.

The tests of one tenant, with as many connectors as it likes, could also hold all threads of a server.
"""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import httpx
import pytest

from audit.models import Entry
from identity.limits.models import Counter
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from tests.support import codes, management
from tests.support.cast import World
from tests.support.codes import new_phone
from tests.support.threads import at_once

TESTS, MESSAGES, TESTS_OF_TENANT = 10, 12, 15
THREADS = 8  # two of them test connectors, one of them for the same tenant
SERVER = {
    "OUTBOUND_PRIVATE_HOSTS": "127.0.0.1",
    "THREADS": str(THREADS),
    "LIMIT_TENANT_TEXT_MESSAGES": str(MESSAGES),
    "LIMIT_CONNECTOR_TESTS": str(TESTS),
    "LIMIT_TENANT_CONNECTOR_TESTS": str(TESTS_OF_TENANT),
}


@pytest.fixture
def admin(world: World) -> management.Caller:
    return sign_in(world)


def sign_in(world: World) -> management.Caller:
    who = management.new_administrator(world)
    body = {"username": who.username, "password": management.PASSWORD}
    answer = httpx.post(f"{world.address.partition('/t/')[0]}/api/admin/sign-in", json=body)
    return management.Caller(world, answer.json()["result"]["access_token"])


def connector(world: World, name: str) -> str:
    with world.active():
        return str(Connector.objects.get(connector_id=name).pk)


def send_test(admin: management.Caller, pk: str, to: str) -> httpx.Response:
    return admin.post(f"/connectors/{pk}/test", to=to)


def send_test_patiently(admin: management.Caller, pk: str, to: str) -> httpx.Response:
    """Test a connector, and wait while the tenant has other tests."""
    while (answer := send_test(admin, pk, to)).status_code == 503:
        time.sleep(0.05)
    return answer


@pytest.mark.parametrize(("name", "to"), [("outbox-sms", new_phone()), ("outbox-email", codes.new_email())])
def test_attack_AP09_sixty_tests_in_half_a_second(world, admin, name, to):
    pk = connector(world, name)
    answers = at_once(TESTS + 10, lambda _: send_test_patiently(admin, pk, to))

    assert sorted(answer.status_code for answer in answers) == [200] * TESTS + [429] * 10
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert 500 < int(refused.headers["Retry-After"]) <= 601
    assert len(codes.messages_to(to)) == TESTS
    entries = Entry.objects.filter(tenant_id=world.tenant.pk, key="Connector.Test")
    assert entries.filter(payload__error="rate_limited").count() == 10


def test_decision_N11_tests_count_towards_the_tenants_messages(world, admin):
    pk, statuses = connector(world, "outbox-sms"), []
    for _ in range(MESSAGES + 1):
        statuses.append(send_test(admin, pk, new_phone()).status_code)
        with world.active():
            Counter.objects.filter(kind="connector tests").delete()

    assert statuses == [200] * MESSAGES + [429]
    to = new_phone()
    world.user(phone=to)
    assert codes.send(world.browser(), to).status_code == 429
    email = connector(world, "outbox-email")
    assert send_test(admin, email, codes.new_email()).status_code == 200


def test_each_connector_counts_for_itself(world, admin):
    for _ in range(TESTS + 1):
        refused = send_test(admin, connector(world, "outbox-sms"), new_phone())

    assert refused.status_code == 429
    assert send_test(admin, connector(world, "outbox-email"), codes.new_email()).status_code == 200


def test_attack_a_tenant_tests_very_many_connectors(world, admin):
    email, sms = connector(world, "outbox-email"), connector(world, "outbox-sms")
    statuses = [send_test(admin, email, codes.new_email()).status_code for _ in range(TESTS)]
    statuses += [send_test(admin, sms, new_phone()).status_code for _ in range(TESTS_OF_TENANT - TESTS)]

    refused = send_test(admin, sms, new_phone())

    assert statuses == [200] * TESTS_OF_TENANT
    assert refused.status_code == 429
    assert 500 < int(refused.headers["Retry-After"]) <= 601


def test_attack_slow_providers_that_are_tested_hold_all_threads(guarded, world, admin, rival):
    other = codes.reachable(rival.at(guarded))
    with ExitStack() as open_, ThreadPoolExecutor(1) as pool:
        silent = open_.enter_context(socket.create_server(("127.0.0.1", 0)))
        silent.settimeout(10)
        config = {"host": "127.0.0.1", "port": silent.getsockname()[1], "from_email": "us@acme.example"}
        with world.active():
            slow = connectors.create(connector_id="smtp", type="Email", config=config, is_proven=True)
        waiting = pool.submit(send_test, admin, str(slow.pk), codes.new_email())
        connection = open_.enter_context(silent.accept()[0])

        refused = send_test(admin, connector(world, "outbox-email"), codes.new_email())
        others = send_test(sign_in(other), connector(other, "outbox-email"), codes.new_email())
        connection.close()

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
    assert refused.json()["message"] == "Wait a few seconds and try again."
    assert others.status_code == 200
    assert waiting.result().status_code == 400
    assert send_test(admin, connector(world, "outbox-email"), codes.new_email()).status_code == 200
