"""Two mailboxes whose addresses are looked up alike: codes of one must not open the account of the other."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from identity.core.errors import Invalid
from identity.users import email_domains
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.connectors import delivery
from interaction.connectors import services as connectors
from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import new_test_email
from tests.support import codes, management, providers
from tests.support.cast import Browser, World
from tests.support.codes import new_email
from tests.support.providers import MailServer

ATTACKERS, VICTIMS = "Attack3rpass!", "Vict1mpassword"


@pytest.fixture
def mailed(acme: World, settings: Any) -> Iterator[MailServer]:
    """A tenant whose mail goes out by SMTP."""
    settings.DEVELOPMENT = True
    with providers.mail_server() as server, acme.active():
        config = {
            "host": "localhost",
            "port": server.port,
            "security": "none",
            "from_email": "id@acme.example",
        }
        connectors.create(connector_id="smtp", type="Email", config=config, enabled=True, is_proven=True)
        yield server


class TestSeveralMailboxes:
    """My address is a list: a provider that splits it sends your domain's code to me, too."""

    LIST = '"a@mallory.example,me@mallory.example,b"@victim.example'

    def test_attack_a_code_proves_an_address_at_your_domain(self, acme, alike):
        answer = codes.send(acme.browser(), self.LIST, "register")

        assert answer.status_code == 400
        assert "identifier: must be an email address" in answer.text

    def test_attack_an_administrator_enters_it(self, acme):
        fields = {"username": "mallory", "password": ATTACKERS, "email": self.LIST}

        answer = management.superuser(acme).post("/users", **fields)

        assert management.refusal_of(answer, 400) == "email: must be an email address"

    def test_attack_an_earlier_release_has_stored_it(self, mailed):
        with pytest.raises(Invalid, match="must be an email address"):
            delivery.deliver(new_test_email(self.LIST))

        assert mailed.recipients == []

    def test_a_user_who_has_it_can_still_be_changed(self, acme):
        user = acme.user(email="ada@victim.example")
        with acme.active():
            User.objects.filter(pk=user.pk).update(
                email=self.LIST, email_key=self.LIST, email_verified=True, email_proven=True
            )

        answer = management.superuser(acme).patch(f"/users/{user.pk}", username="ada-2")

        assert management.result_of(answer)["email"] == self.LIST


class TestDelivery:
    @pytest.mark.parametrize(
        ("address", "recipient"),
        [
            ("ada@straße.example", "ada@xn--strae-oqa.example"),
            ("ada@STRAẞE.example", "ada@xn--strae-oqa.example"),
            ("ada@βόλος.example", "ada@xn--nxasmm1c.example"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("ada@BÜCHER.example", "ada@xn--bcher-kva.example"),
            ("Ada@Example.org", "Ada@Example.org"),
        ],
    )
    def test_attack_your_code_is_sent_to_my_domain(self, mailed, address, recipient):
        """I own strasse.example, you have an account with an address at straße.example."""
        delivery.deliver(new_test_email(address))

        assert mailed.recipients == [recipient]
        assert mailed.mails[0]["To"] == recipient

    def test_a_domain_that_nobody_can_have_is_no_recipient(self, mailed):
        with pytest.raises(ProviderError, match="not a valid internationalized domain name"):
            delivery.deliver(new_test_email("ada@☃.example"))

        assert mailed.recipients == []

    def test_a_test_of_the_connector_goes_where_codes_go(self, mailed):
        connector = connectors.create(connector_id="outbox-email", type="Email", config={}, is_proven=True)
        with pytest.raises(connectors.NotWorking):
            connectors.test(connector, to="ada@☃.example")


@dataclass
class Alike:
    """Two addresses with one key, of two people."""

    mine: str
    yours: str


@pytest.fixture
def alike(acme: World) -> Alike:
    """Codes go anywhere, and people register with an email."""
    codes.reachable(acme)
    codes.experience(acme, sign_up={"identifiers": ["username", "email"]})
    local = secrets.token_hex(6)
    return Alike(f"{local}@straße.example", f"{local}@strasse.example")


def sent(browser: Browser, address: str, purpose: str, *, number: int = 1) -> str:
    """Ask for a code; return what arrives at the mailbox."""
    assert codes.send(browser, address, purpose).status_code == 200
    return str(codes.message_to(str(email_domains.encode_address(address)), number=number)["code"])


def proven(browser: Browser, address: str, purpose: str, *, number: int = 1) -> None:
    answer = codes.enter(browser, address, sent(browser, address, purpose, number=number), purpose)
    assert answer.status_code == 200, answer.text


def registered(world: World, username: str, email: str, password: str) -> Browser:
    browser = world.browser()
    proven(browser, email, "register")
    fields = {"username": username, "email": email, "password": password}
    answer = browser.post(codes.REGISTER, json=fields)
    assert answer.status_code == 200, answer.text
    return browser


def give_up(world: World, username: str) -> None:
    """Take another address, so that the key is free; a while passes."""
    codes.let_time_pass(world)
    with world.active():
        users.change(
            User.objects.get(username=username), {"email": new_email()}, proven=Kind.EMAIL, is_proven=True
        )


class TestCodesThatOutliveAnAccount:
    """I prove my address at an account of mine, give it up, and wait for you to register with yours."""

    def test_attack_my_proof_chooses_your_password(self, acme, alike):
        attacker = registered(acme, "mallory", alike.mine, ATTACKERS)
        proven(attacker, alike.mine, "forgot_password", number=2)
        give_up(acme, "mallory")
        registered(acme, "victim", alike.yours, VICTIMS)

        fields = {"identifier": alike.mine, "new_password": ATTACKERS}
        answer = attacker.post(codes.RESET, json=fields)

        assert (answer.status_code, answer.json()["message"]) == (
            400,
            "identifier: enter the verification code that was sent to it first",
        )

    def test_attack_my_code_signs_in_to_your_account(self, acme, alike):
        registered(acme, "mallory", alike.mine, ATTACKERS)
        attacker = acme.browser()
        code = sent(attacker, alike.mine, "sign_in", number=2)
        give_up(acme, "mallory")
        registered(acme, "victim", alike.yours, VICTIMS)

        answer = codes.enter(attacker, alike.mine, code)

        assert (answer.status_code, answer.json()["message"]) == (400, "code: wrong or expired")
