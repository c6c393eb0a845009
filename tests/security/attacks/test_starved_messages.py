"""A tenant whose mail server is slow, or whose users cause many messages, starves no other tenant."""

import socket
import time
from collections.abc import Iterator

import pytest

from identity.users import former_emails
from identity.users import services as users
from interaction.connectors import services as connectors
from tests.support import codes, second
from tests.support.codes import new_email

FLOOD = 8


@pytest.fixture(scope="module")
def inside(address: str) -> Iterator[str]:
    """A server with one worker, which may speak to this machine."""
    with second.running(OUTBOUND_PRIVATE_HOSTS="127.0.0.1") as address_:
        yield address_


@pytest.fixture
def silent_port() -> Iterator[int]:
    """The port of a mail server that never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_attack_my_mail_server_keeps_your_codes_waiting(inside, acme, rival, silent_port):
    mine, yours = acme.at(inside), codes.reachable(rival.at(inside))
    config = {"host": "127.0.0.1", "port": silent_port, "security": "none", "from_email": "id@acme.example"}
    with mine.active():
        connectors.create(connector_id="smtp", type="Email", config=config, enabled=True, is_proven=True)
    for _ in range(FLOOD):
        mail = new_email()
        mine.user(email=mail)
        assert codes.send(mine.browser(), mail).status_code == 200

    mail = new_email()
    yours.user(email=mail)
    began = time.monotonic()
    assert codes.send(yours.browser(), mail).status_code == 200
    while time.monotonic() < began + 60 and not codes.messages_to(mail):
        time.sleep(0.1)

    assert time.monotonic() - began < 10


def test_attack_each_change_of_my_email_adds_a_message_to_every_notice(acme):
    emails = [new_email() for _ in range(6)]
    user = acme.user(email=emails[0])
    with acme.active():
        for email in emails[1:]:
            users.change(user, {"email": email}, is_proven=True)

        assert former_emails.find(user) == emails[:3]
