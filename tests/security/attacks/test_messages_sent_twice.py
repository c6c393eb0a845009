"""Administrators who have a message sent again while it is being sent (AP44)."""

from typing import Any

import pytest

from interaction.connectors import delivery
from interaction.connectors.messages import Message
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from tests.support import operators
from tests.support.admin_pages import operate

PAGES = "verification/outgoingmessage"


@pytest.fixture
def sent(acme, monkeypatch):
    """The messages that this process sends, and what happens while it sends one."""
    messages: list[Any] = []
    meanwhile: list[Any] = []

    def deliver(message):
        messages.append(message.id)
        for happen in meanwhile:
            happen(OutgoingMessage.objects.get(pk=message.id))

    monkeypatch.setattr(delivery, "deliver", deliver)
    return messages, meanwhile


def put():
    """Put a message into the queue that no other process sends meanwhile."""
    message = Message(channel="email", to="a@b.example", interaction_type="test", code="", body="x")
    outgoing.enqueue(message)
    return OutgoingMessage.objects.get(pk=message.id)


def send(row):
    if outgoing._claim(row):
        outgoing._finish(row)


def test_attack_AP44_a_message_that_is_being_sent_is_not_sent_again(acme, sent, monkeypatch):
    monkeypatch.setattr(outgoing._senders, "wake", lambda: None)
    messages, meanwhile = sent
    operator, answers = operators.at(acme), []

    def retry(row):
        meanwhile.clear()
        answers.append(operate(operator, PAGES, row, "retry"))
        send(OutgoingMessage.objects.get(pk=row.pk))  # as another sender

    meanwhile.append(retry)
    with acme.active():
        send(put())

    assert len(messages) == 1
    assert [answer.status_code for answer in answers] == [409]
    assert "being sent" in answers[0].text


def test_a_message_that_waits_for_its_next_try_is_sent_now(acme, monkeypatch):
    monkeypatch.setattr(outgoing._senders, "wake", lambda: None)
    with acme.active():
        row = put()
        OutgoingMessage.objects.filter(pk=row.pk).update(tries=1)

        outgoing.retry(row)

        assert OutgoingMessage.objects.filter(pk=row.pk, tries=0).exists()
