"""AP09: a connector's test sent as many text messages as somebody with a token asked for."""

from collections.abc import Iterator

import httpx
import pytest

from audit.models import Entry
from identity.limits.models import Counter
from interaction.connectors.models import Connector
from tests.support import codes, management, second
from tests.support.cast import World
from tests.support.codes import new_phone
from tests.support.threads import at_once

TESTS, MESSAGES = 10, 12


@pytest.fixture(scope="module")
def guarded(address: str) -> Iterator[str]:
    """A server whose tenants send few text messages."""
    limits = {"LIMIT_TENANT_TEXT_MESSAGES": str(MESSAGES), "LIMIT_CONNECTOR_TESTS": str(TESTS)}
    with second.running(**limits) as address_:
        yield address_


@pytest.fixture
def world(guarded: str, acme: World) -> World:
    return codes.reachable(acme.at(guarded))


@pytest.fixture
def admin(guarded: str, world: World) -> management.Caller:
    who = management.new_administrator(world)
    body = {"username": who.username, "password": management.PASSWORD}
    answer = httpx.post(f"{guarded}/api/admin/sign-in", json=body)
    return management.Caller(world, answer.json()["result"]["access_token"])


def connector(world: World, name: str) -> str:
    with world.active():
        return str(Connector.objects.get(connector_id=name).pk)


def send_test(admin: management.Caller, pk: str, to: str) -> httpx.Response:
    return admin.post(f"/connectors/{pk}/test", to=to)


@pytest.mark.parametrize(("name", "to"), [("outbox-sms", new_phone()), ("outbox-email", codes.new_email())])
def test_attack_AP09_sixty_tests_in_half_a_second(world, admin, name, to):
    pk = connector(world, name)
    answers = at_once(TESTS + 10, lambda _: send_test(admin, pk, to))

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
