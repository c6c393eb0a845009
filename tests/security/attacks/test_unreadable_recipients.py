"""AV44 to AV46: recipients that stopped all mail, had many names, or charged for each message.

Django's mail code decodes encoded words (RFC 2047) in a recipient, and fails at some.
"""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, transaction

from identity.core.errors import Invalid
from identity.users.models import User
from interaction.connectors import delivery
from interaction.connectors import services as connectors
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import Message, new_test_email
from interaction.connectors.models import Connector
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from management.administrators import mail
from tests.support import codes, management, providers
from tests.support.cast import PASSWORD, World
from tests.support.codes import new_email
from tests.support.connectors import send
from tests.support.providers import MailServer

DECODED = (
    "=?utf-8?q?a=0ab?=@acme.example",  # Django raised ValueError
    "=?utf-8?q??=@acme.example",  # Django raised IndexError
    "=?utf-8?q?=61bc?=@acme.example",  # the mailbox abc
    "=?utf-8?b?YXR0YWNrZXJAZXZpbC5leGFtcGxl?=@acme.example",  # "attacker@evil.example" in quotes
)
UNCHANGED = (
    "Ada.B+c=d@Acme.example",
    "!#$%&'*+-/?=^_`{|}~@acme.example",
    "ada@[127.0.0.1]",
    "ada@xn--bcher-kva.example",
)


@pytest.fixture
def mailed(acme: World, settings: Any) -> Iterator[MailServer]:
    """A tenant whose mail goes out by SMTP."""
    settings.DEVELOPMENT = True
    with providers.mail_server() as server, acme.active():
        connectors.create(
            connector_id="smtp", type="Email", config=config_of(server), enabled=True, is_proven=True
        )
        yield server


def config_of(server: MailServer) -> dict[str, Any]:
    return {"host": "localhost", "port": server.port, "security": "none", "from_email": "id@acme.example"}


def enqueue(*recipients: str) -> None:
    """Store messages at once, for the sender of this process."""
    with transaction.atomic():
        for to in recipients:
            outgoing.enqueue(
                Message(channel="email", to=to, interaction_type="sign_in", code="1", body="1", subject="x")
            )


class TestQueue:
    """One message that cannot be sent, and another behind it."""

    def test_attack_AV44_an_unexpected_error_stops_no_other_message(self, acme, monkeypatch, caplog):
        codes.reachable(acme)
        delivered: list[str] = []
        bad, good = new_email(), new_email()

        def deliver(sender: object, config: object, message: Message) -> None:
            if message.to == bad:
                raise RuntimeError("the library of the provider")
            delivered.append(message.to)

        monkeypatch.setattr(delivery, "send", deliver)
        with acme.active(), caplog.at_level(logging.ERROR):
            enqueue(bad, good)

            assert outgoing.send_due() is True

            assert delivered == [good]
            assert [row.tries for row in OutgoingMessage.objects.all()] == [1]
        assert "RuntimeError: the library of the provider" in caplog.text

    @pytest.mark.parametrize("error", [OperationalError, InterfaceError])
    def test_attack_AV44_without_the_database_no_message_counts_as_failed(self, acme, monkeypatch, error):
        codes.reachable(acme)

        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(delivery, "send", fail)
        with acme.active():
            enqueue(new_email())
            with pytest.raises(error):
                outgoing.send_due()
            OutgoingMessage.objects.all().delete()

    def test_attack_AV44_recipients_of_an_earlier_release_stop_no_code(self, acme, mailed):
        good = new_email()
        enqueue(*DECODED, good)

        outgoing.send_due()

        assert mailed.recipients == [good]
        OutgoingMessage.objects.all().delete()


class TestEntries:
    """The ways on which an address comes in."""

    @pytest.mark.parametrize("address", DECODED)
    def test_attack_AV45_a_code_goes_to_another_spelling_of_a_mailbox(self, acme, address):
        codes.reachable(acme)
        codes.experience(acme, sign_up={"identifiers": ["email"]})

        answer = codes.send(acme.browser(), address, "register")

        assert answer.status_code == 400
        assert "identifier: must be an email address" in answer.text

    def test_attack_AV45_an_administrator_enters_one(self, acme):
        api = management.superuser(acme)

        answer = api.post("/users", username="mallory", password=PASSWORD, email=DECODED[2])

        assert management.refusal_of(answer, 400) == "email: must be an email address"

    @pytest.mark.parametrize("address", DECODED)
    def test_attack_AV44_a_test_of_a_connector_gets_one(self, acme, mailed, address):
        api = management.superuser(acme)
        connector = Connector.objects.get()

        answer = api.post(f"/connectors/{connector.pk}/test", to=address)

        assert management.refusal_of(answer, 400) == "to: must be an email address"

    def test_attack_AV45_a_user_who_has_one_can_still_be_changed(self, acme):
        user = acme.user(email="ada@acme.example")
        with acme.active():
            User.objects.filter(pk=user.pk).update(email=DECODED[2], email_key=DECODED[2])

        answer = management.superuser(acme).patch(f"/users/{user.pk}", username="ada-2")

        assert management.result_of(answer)["email"] == DECODED[2]


class TestDelivery:
    """An account of an earlier release has such an address."""

    @pytest.mark.parametrize("address", DECODED)
    def test_attack_AV45_it_gets_no_mail_of_any_provider(self, mailed, address):
        with pytest.raises(Invalid, match="must be an email address"):
            delivery.deliver(new_test_email(address))

        assert mailed.recipients == []

    @pytest.mark.parametrize("address", [*DECODED, "\u017f@acme.example", "a b@acme.example"])
    def test_attack_AV45_smtp_sends_nothing_to_an_address_that_django_changes(self, mailed, address):
        with pytest.raises(ProviderError, match="a character that cannot be sent"):
            send("smtp", new_test_email(address), **config_of(mailed))

        assert mailed.recipients == []

    @pytest.mark.parametrize("address", UNCHANGED)
    def test_attack_AV45_smtp_gets_every_other_address_as_it_is(self, mailed, address):
        delivery.deliver(new_test_email(address))

        assert mailed.recipients == [address]
        assert mailed.mails[0]["To"] == address

    @pytest.mark.parametrize("address", DECODED)
    def test_attack_AV45_no_administrator_gets_mail_there(self, settings, mailoutbox, address):
        with pytest.raises(mail.NotSent):
            mail.send(address, "subject", "body")

        assert mailoutbox == []


@pytest.mark.parametrize(
    ("phone", "country"), [("+19002345678", "US"), ("+491805123456", "DE"), ("+41581234567", "CH")]
)
def test_attack_AV46_a_code_goes_to_a_number_that_charges_the_sender(acme, phone, country):
    codes.reachable(acme)
    codes.experience(acme, account={"sms_countries": [country]}, sign_up={"identifiers": ["phone"]})

    answer = codes.send(acme.browser(), phone, "register")

    assert answer.status_code == 400
    assert f"must be a phone number of {country}" in answer.json()["message"]
    assert "not a premium-rate" in answer.json()["message"]
    assert codes.messages_to(phone) == []
