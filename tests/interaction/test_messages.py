"""Messages on their way: written with the code, sent afterwards, retried once, never lost."""

import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from audit.models import Entry
from identity.tenants.models import Tenant
from interaction.connectors import services as connectors
from interaction.connectors.messages import Message
from interaction.verification import outgoing, texts
from interaction.verification.models import OutgoingMessage, Purpose
from interaction.verification.texts import Brand
from tests.support import codes, providers, second
from tests.support.cast import World
from tests.support.codes import new_email, new_phone

NASTY = "<img src=x onerror=alert(1)> & {{ 7|add:7 }} 100%(code)s"


@pytest.fixture(scope="module")
def inside(address: str) -> Iterator[str]:
    """A server that may speak to this machine."""
    with second.running(OUTBOUND_PRIVATE_HOSTS="127.0.0.1") as address_:
        yield address_


@pytest.fixture
def world(inside: str, acme: World) -> World:
    return replace(acme, address=f"{inside}/t/{acme.tenant.slug}")


def by_smtp(world: World, port: int) -> None:
    config = {"host": "127.0.0.1", "port": port, "security": "none", "from_email": "id@acme.example"}
    with world.active():
        connectors.create(connector_id="smtp", type="Email", config=config, enabled=True, is_proven=True)


def waiting(world: World) -> list[OutgoingMessage]:
    with world.active():
        return list(OutgoingMessage.objects.all())


def until(condition, seconds: float = 10):
    """What a condition gives once it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError("it never came")


class TestMail:
    def test_decision_X7_arrives_over_smtp_in_plain_text_and_html(self, world):
        to = new_email()
        world.user(email=to)
        Tenant.objects.filter(pk=world.tenant.pk).update(name=NASTY)
        with providers.mail_server() as server:
            by_smtp(world, server.port)
            answer = codes.send(world.browser(), to)
            (mail,) = until(lambda: server.mails)

        assert answer.status_code == 200
        assert server.recipients == [to]
        plain = mail.get_body(("plain",)).get_content()
        html = mail.get_body(("html",)).get_content()
        (code,) = [word for word in plain.split() if len(word) == 6 and word.isdigit()]
        assert mail["Subject"] == f"Your code to sign in to {NASTY}"
        assert code not in mail["Subject"]
        assert code in html
        assert "<img" not in html
        assert "&lt;img src=x" in html
        assert "{{ 7|add:7 }}" in html

    def test_looks_like_the_tenant(self):
        brand = Brand(name="Acme", colour="#ffff00", on_colour="#000", logo_url="https://acme.example/l.svg")

        message = texts.new_code_message(
            pk="1", purpose=Purpose.REGISTER, channel="email", to="a@b.example", code="012345", brand=brand
        )

        assert "background:#ffff00;color:#000" in message.html
        assert 'src="https://acme.example/l.svg"' in message.html
        assert "http://" not in message.html

    @pytest.mark.parametrize("channel", ["email", "sms"])
    @pytest.mark.parametrize("purpose", Purpose)
    def test_every_purpose_has_words_of_its_own(self, purpose, channel):
        def body(purpose: Purpose) -> str:
            return texts.new_code_message(
                pk="1", purpose=purpose, channel=channel, to="x", code="012345", brand=Brand(name="Acme")
            ).body

        assert "012345" in body(purpose)
        assert "Acme" in body(purpose)
        assert body(purpose) not in {body(other) for other in Purpose if other != purpose}

    def test_an_sms_fits_into_one(self):
        longest = max(
            len(
                texts.new_code_message(
                    pk="1", purpose=purpose, channel="sms", to="x", code="012345", brand=Brand(name="x" * 20)
                ).body
            )
            for purpose in Purpose
        )

        assert longest <= 160

    def test_an_sms_goes_to_the_phone(self, reachable):
        to = new_phone()
        reachable.user(phone=to)

        codes.send(reachable.browser(), to)

        message = codes.message_to(to)
        assert (message["channel"], message["interaction_type"]) == ("sms", "sign_in")
        assert message["code"] in message["body"]


class TestDelivery:
    def test_decision_X7_the_answer_does_not_wait_for_a_slow_server(self, world):
        to = new_email()
        world.user(email=to)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            by_smtp(world, silent.getsockname()[1])
            began = time.monotonic()
            answer = codes.send(world.browser(), to)
            taken = time.monotonic() - began
            connection, _ = silent.accept()
            connection.close()

        assert answer.status_code == 200
        assert taken < 2
        assert waiting(world)

    def test_decision_X7_is_tried_twice_and_its_failure_written_down(self, world):
        to = new_email()
        world.user(email=to)
        with providers.mail_server(refuses_recipient=True) as server:
            by_smtp(world, server.port)
            codes.send(world.browser(), to)
            entry = until(
                lambda: Entry.objects.filter(
                    tenant_id=world.tenant.pk, key="VerificationCode.Send", payload__result="failed"
                ).first()
            )

        assert entry.payload["error"] == "not_delivered"
        assert entry.payload["reason"] == "127.0.0.1 does not accept mail for this recipient (550)"
        assert waiting(world) == []

    def test_a_second_try_delivers(self, world):
        to = new_email()
        world.user(email=to)
        with providers.mail_server(refuses_recipient=True) as server:
            by_smtp(world, server.port)
            codes.send(world.browser(), to)
            until(lambda: [row for row in waiting(world) if row.tries == 1])
            server.refuses_recipient = False
            until(lambda: server.mails)
            until(lambda: not waiting(world))

        assert server.recipients[-1:] == [to]


def posted(world: World, to: str) -> OutgoingMessage:
    """A message that was written where nobody sends: in this process."""
    message = Message(
        channel="email", to=to, interaction_type="sign_in", code="012345", body="012345", subject="x"
    )
    with world.active(), transaction.atomic():
        outgoing.enqueue(message)
        # As if somebody had claimed it, so that the server of the run does not.
        OutgoingMessage.objects.update(due_at=datetime.now(UTC) + timedelta(seconds=60))
        return OutgoingMessage.objects.get()


def change(world: World, **columns) -> None:
    with world.active():
        OutgoingMessage.objects.update(**columns)


class TestLease:
    def test_is_sealed_where_it_lies(self, reachable):
        to = new_email()

        row = posted(reachable, to)

        assert to not in row.sealed
        assert "012345" not in row.sealed

    def test_what_somebody_sends_is_left_to_them(self, reachable):
        to = new_email()
        posted(reachable, to)

        outgoing.send_due()

        assert codes.messages_to(to) == []
        assert len(waiting(reachable)) == 1

    def test_what_a_dead_worker_left_is_sent(self, reachable):
        to = new_email()
        posted(reachable, to)
        change(reachable, tries=1, due_at=datetime.now(UTC) - timedelta(seconds=1))

        outgoing.send_due()

        assert codes.message_to(to)["code"] == "012345"
        until(lambda: not waiting(reachable))

    def test_what_two_workers_died_of_is_given_up(self, reachable):
        to = new_email()
        posted(reachable, to)
        change(reachable, tries=2, due_at=datetime.now(UTC) - timedelta(seconds=1))

        outgoing.send_due()

        until(lambda: not waiting(reachable))
        assert codes.messages_to(to) == []
        (entry,) = Entry.objects.filter(tenant_id=reachable.tenant.pk, key="VerificationCode.Send")
        assert entry.payload["error"] == "not_delivered"

    def test_what_cannot_be_opened_is_given_up_at_once(self, reachable):
        posted(reachable, new_email())
        sealed = "00000000.AAAA"
        change(reachable, sealed=sealed, tries=1, due_at=datetime.now(UTC) - timedelta(seconds=1))

        outgoing.send_due()

        until(lambda: not waiting(reachable))

    def test_what_is_rolled_back_is_never_sent(self, reachable):
        to = new_email()
        message = Message(channel="email", to=to, interaction_type="sign_in", code="1", body="1")

        with reachable.active(), transaction.atomic():
            outgoing.enqueue(message)
            transaction.set_rollback(True)

        outgoing.send_due()
        assert codes.messages_to(to) == []
