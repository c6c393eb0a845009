"""A person who holds one channel of a user never has two factors by it, whatever the order of the steps.

The channel is the mailbox, the phone, or the account at another provider, whose owner reads the mailbox, too.
The user gets an authenticator, which the person does not hold. From then on nothing of the account may
change, and no session may have two factors. The person may also find a session that the user left open.
"""

from typing import Any

import pytest

from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.identifiers import Kind
from interaction.connectors import provider_keys, relying_party
from interaction.journeys.second_factor import available_factors, reauthentication, sign_ins
from interaction.verification import outgoing, resets
from tests.properties.one_channel import Here, OneChannel
from tests.support import account, factors, social
from tests.support.in_process import InProcessWorld
from tests.support.mailboxes import Mailboxes
from tests.support.openid import OpenIDProvider
from tests.support.properties import run_machine


@pytest.fixture
def here(acme: Any, provider: OpenIDProvider, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Here:
    settings.DEVELOPMENT = True  # the provider is on loopback
    relying_party._cache.clear()
    provider_keys._cache.clear()
    mail = Mailboxes()
    monkeypatch.setattr(outgoing, "enqueue", mail.post)
    account.allow(acme, username_change=True, deletion=True)
    factors.switch_on(acme)
    social.connect(acme, provider.config)
    social.allow(acme, automatic_account_linking=True)
    return Here(InProcessWorld.of(acme), provider, mail)


def test_property_one_channel_is_never_two_factors(here):
    run_machine(lambda: OneChannel(here), examples=6, steps=15)


class TestTheMachine:
    """It notices what is broken on purpose. The steps are scripted: at random it takes longer."""

    def begun(self, here: Here, *, two_step: bool = False, **chosen: Any) -> OneChannel:
        machine = OneChannel(here)
        machine.begin(**chosen)
        machine.the_user_sets_up_an_authenticator(two_step=two_step)
        return machine

    @pytest.mark.parametrize(
        "confirm",
        [
            OneChannel.confirm_with_a_code,
            OneChannel.reach_two_factors_for_an_application,
        ],
    )
    @pytest.mark.parametrize(("holds", "kind"), [("mailbox", Kind.EMAIL), ("phone", Kind.PHONE)])
    def test_notices_M21_two_codes_to_one_address_in_a_session(self, here, monkeypatch, holds, kind, confirm):
        monkeypatch.setattr(sign_ins, "_find_entered", lambda _: frozenset())
        machine = self.begun(here, holds=holds)

        machine.sign_in_by_code(0, kind)
        machine.no_session_has_two_factors()
        confirm(machine, 0, kind)

        with pytest.raises(AssertionError, match="the channel counts twice"):
            machine.no_session_has_two_factors()

    def test_notices_M21_two_codes_to_one_address_in_a_sign_in(self, here, monkeypatch):
        monkeypatch.setattr(available_factors, "find_used_channels", lambda *_: frozenset())
        machine = self.begun(here, two_step=True)

        machine.sign_in_by_code(0, Kind.EMAIL)
        machine.finish_with_a_code(0, Kind.EMAIL)

        with pytest.raises(AssertionError, match="the channel counts twice"):
            machine.no_session_has_two_factors()

    @pytest.mark.parametrize("two_step", [True, False])
    def test_notices_M21_an_account_elsewhere_and_its_mailbox(self, here, monkeypatch, two_step):
        monkeypatch.setattr(available_factors, "find_mailbox_of_account", lambda *_: frozenset())
        machine = self.begun(here, two_step=two_step, holds="provider")

        machine.sign_in_at_the_provider(0, names_email=True)
        machine.finish_with_a_code(0, Kind.EMAIL)
        machine.confirm_with_a_code(0, Kind.EMAIL)

        with pytest.raises(AssertionError, match="the channel counts twice"):
            machine.no_session_has_two_factors()

    def test_notices_M21_a_password_that_a_code_has_set(self, here, monkeypatch):
        monkeypatch.setattr(resets, "find_kinds", lambda _: frozenset())
        machine = self.begun(here, two_step=True, resets_freely=True)

        machine.reset_the_password(0, Kind.EMAIL)
        machine.sign_in_with_the_new_password(1)
        machine.finish_with_a_code(1, Kind.EMAIL)

        with pytest.raises(AssertionError, match="the channel counts twice"):
            machine.no_session_has_two_factors()

    def test_notices_M21_a_first_password_of_a_session_that_a_code_began(self, here, monkeypatch):
        monkeypatch.setattr(resets, "record", lambda *_: None)
        machine = OneChannel(here)
        machine.begin(has_password=False)

        machine.sign_in_by_code(0, Kind.EMAIL)
        machine.set_a_password(0)
        machine.the_user_sets_up_an_authenticator(two_step=True)
        machine.sign_in_with_the_new_password(1)
        machine.finish_with_a_code(1, Kind.EMAIL)

        with pytest.raises(AssertionError, match="the channel counts twice"):
            machine.no_session_has_two_factors()

    @pytest.mark.parametrize(
        ("holds", "kind"), [("mailbox", Kind.EMAIL), ("phone", Kind.PHONE), ("provider", Kind.EMAIL)]
    )
    def test_notices_M21_a_session_of_two_factors_and_the_channel_of_the_first(
        self, here, monkeypatch, holds, kind
    ):
        monkeypatch.setattr(sign_ins, "find_first_channels", lambda _: frozenset())
        machine = self.begun(here, holds=holds)

        machine.the_user_leaves_a_session_open(with_password=False)
        machine.no_session_has_two_factors()
        machine.confirm_with_a_code(0, kind)

        with pytest.raises(AssertionError, match="the first channel confirms"):
            machine.no_session_has_two_factors()

    def test_notices_M43_a_factor_that_is_enough_without_the_password(self, here, monkeypatch):
        monkeypatch.setattr(reauthentication, "must_enter_password", lambda _: False)
        machine = self.begun(here)

        machine.the_user_leaves_a_session_open(with_password=True)
        machine.confirm_with_a_code(0, Kind.EMAIL)
        machine.make_backup_codes(0)

        with pytest.raises(AssertionError):
            machine.nothing_has_changed()

    def test_notices_M43_a_change_without_the_factor(self, here, monkeypatch):
        monkeypatch.setattr(reauthentication, "check_factor", lambda _: None)
        machine = self.begun(here, has_password=False)

        machine.sign_in_by_code(0, Kind.EMAIL)
        machine.change_an_address(0, Kind.PHONE)

        with pytest.raises(AssertionError):
            machine.nothing_has_changed()

    @pytest.mark.parametrize("kind", [Kind.EMAIL, Kind.PHONE])
    def test_notices_M21_a_confirmation_that_a_sign_in_on_its_channel_keeps(self, here, monkeypatch, kind):
        def copy_level(session: Session, replaced: Session) -> None:
            session.level, session.second_factor_at = replaced.level, replaced.second_factor_at

        monkeypatch.setattr(sessions, "_copy_level", copy_level)
        machine = self.begun(here, holds="mailbox" if kind is Kind.EMAIL else "phone")

        machine.the_user_leaves_a_session_open(with_password=True)
        machine.confirm_with_a_code(0, kind)
        machine.nothing_has_changed()
        machine.sign_in_by_code(0, kind)
        machine.link_an_account(0)

        with pytest.raises(AssertionError):
            machine.nothing_has_changed()
