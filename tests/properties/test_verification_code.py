"""Verification codes against a model: what a code is bound to, what burns it, and what it proves."""

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import pytest
from django.conf import settings
from django.db.models import F
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from interaction.verification import outgoing
from interaction.verification import services as verification
from interaction.verification.models import CodeQuerySet, VerificationCode
from tests.support import codes
from tests.support.in_process import InProcessWorld
from tests.support.properties import run_machine

PURPOSES = ["sign_in", "forgot_password"]
UNKNOWN: Final = 2
_WRONG_AT_MOST: Final = 14

browsers = st.integers(0, 1)
people = st.integers(0, 2)
purposes = st.sampled_from(PURPOSES)


@dataclass
class Sent:
    """A code that is out, to be entered where it was asked for."""

    text: str
    tries: int = 0


CHOICE = random.Random(1)  # noqa: S311 - it only chooses

Place = tuple[int, int, str]


class VerificationCodes(RuleBasedStateMachine):
    """Two browsers, two people with an email address each, and an address that nobody has."""

    def __init__(self, world: InProcessWorld) -> None:
        super().__init__()
        self.world = world
        self.live: dict[Place, Sent] = {}
        self.past: list[tuple[Place, str]] = []
        self.proofs: dict[tuple[int, int], int] = {}  # and how many minutes old each is
        self.signed_in: dict[int, int | None] = {0: None, 1: None}
        self.outdated: set[Place] = set()
        self.wrong = 0

    @initialize()
    def begin(self) -> None:
        codes.let_time_pass(self.world)
        self.browsers = [self.world.browser() for _ in range(2)]
        self.emails = [codes.new_email() for _ in range(3)]
        for email in self.emails[:UNKNOWN]:
            self.world.user(email=email)
        for browser in self.browsers:
            codes.send(browser, codes.new_email())  # it has its cookie from now on

    @rule(browser=browsers, person=people, purpose=purposes)
    def ask_for_a_code(self, browser: int, person: int, purpose: str) -> None:
        codes.let_time_pass(self.world)
        email = self.emails[person]

        answer = codes.send(self.browsers[browser], email, purpose)

        assert answer.json()["result"] == {"expires_in": 300}
        again = codes.send(self.browsers[browser], email, purpose)
        assert again.status_code == 400, "one a minute"
        if person == UNKNOWN:
            return
        if (browser, person, purpose) in self.live:
            self.end((browser, person, purpose))
        self.live[browser, person, purpose] = Sent(self.newest_message(email))
        self.outdated.discard((browser, person, purpose))

    @staticmethod
    def newest_message(email: str) -> str:
        """Return the code in the messages to an address, and throw all of them away."""
        outgoing.send_due()
        codes.message_to(email)
        messages = codes.messages_to(email)
        for message in messages:
            (settings.OUTBOX_DIR / f"{message['id']}.json").unlink()
        # A new password is told by a message that has no code.
        [code] = [message["code"] for message in messages if message["code"]]
        return str(code)

    @precondition(lambda self: self.live)
    @rule(pick=st.randoms(use_true_random=False), go_on=st.booleans())
    def enter_the_right_code(self, pick: random.Random, go_on: bool) -> None:
        place = pick.choice(sorted(self.live))
        self.enter(place, self.live[place].text)
        if go_on and self.proofs:
            self.choose_a_new_password(pick)

    @precondition(lambda self: self.live)
    @rule(pick=st.randoms(use_true_random=False), change=st.sampled_from(["browser", "person", "purpose"]))
    def enter_it_where_it_does_not_belong(self, pick: random.Random, change: str) -> None:
        place = pick.choice(sorted(self.live))
        browser, person, purpose = place
        elsewhere = {
            "browser": (1 - browser, person, purpose),
            "person": (browser, (person + 1) % 3, purpose),
            "purpose": (browser, person, PURPOSES[1 - PURPOSES.index(purpose)]),
        }
        self.enter(elsewhere[change], self.live[place].text)

    @precondition(lambda self: self.past)
    @rule(pick=st.randoms(use_true_random=False))
    def enter_one_that_is_over(self, pick: random.Random) -> None:
        """One that was used, burned, replaced or is too old."""
        self.enter(*pick.choice(self.past))

    @precondition(lambda self: self.live and self.wrong < _WRONG_AT_MOST)
    @rule(pick=st.randoms(use_true_random=False), times=st.integers(3, 5))
    def guess(self, pick: random.Random, times: int) -> None:
        place = pick.choice(sorted(self.live))
        text = self.live[place].text
        for _ in range(times):
            self.enter(place, codes.other_than(text))
        self.enter(place, text)

    def enter(self, place: Place, text: str) -> None:
        browser, person, purpose = place
        sent = self.live.get(place)
        is_right = sent is not None and sent.text == text
        if is_right and place in self.outdated:
            self.enter_outdated(place, text)
            return

        answer = codes.enter(self.browsers[browser], self.emails[person], text, purpose)

        assert answer.status_code == (200 if is_right else 400), answer.text
        if sent is None:
            self.wrong += 1
        elif not is_right:
            self.wrong += 1
            sent.tries += 1
            if sent.tries == 5:
                self.end(place)
        else:
            self.end(place)
            if purpose == "sign_in":
                self.signed_in[browser] = person
            else:
                self.proofs[browser, person] = 0

    def enter_outdated(self, place: Place, text: str) -> None:
        """The code itself is right, but what it proves counts for nothing: no session, no new password."""
        browser, person, purpose = place
        answer = codes.enter(self.browsers[browser], self.emails[person], text, purpose)
        assert answer.status_code == (400 if purpose == "sign_in" else 200), answer.text
        self.end(place)

    def end(self, place: Place) -> None:
        self.past.append((place, self.live.pop(place).text))

    @precondition(lambda self: self.proofs)
    @rule(pick=st.randoms(use_true_random=False))
    def choose_a_new_password(self, pick: random.Random) -> None:
        """A proof is good for one."""
        browser, person = pick.choice(sorted(self.proofs))
        self.choose(browser, person)
        self.choose(browser, person)

    @rule(browser=browsers, person=people)
    def try_to_choose_one(self, browser: int, person: int) -> None:
        self.choose(browser, person)

    def choose(self, browser: int, person: int) -> None:
        body = {"identifier": self.emails[person], "new_password": "quite an0ther one"}

        answer = self.browsers[browser].post(codes.RESET, json=body)

        assert answer.status_code == (200 if (browser, person) in self.proofs else 400), answer.text
        if answer.status_code == 200:
            # A new password ends what was proven or sent before, in every browser.
            self.proofs = {place: age for place, age in self.proofs.items() if place[1] != person}
            self.outdated |= {place for place in self.live if place[1] == person}
            self.signed_in = {where: None if who == person else who for where, who in self.signed_in.items()}

    @precondition(lambda self: self.live or self.proofs)
    @rule(minutes=st.sampled_from([5, 10]))
    def let_time_pass(self, minutes: int) -> None:
        passed = timedelta(minutes=minutes, seconds=1)
        with self.world.active():
            VerificationCode.objects.update(
                expires_at=F("expires_at") - passed, used_at=F("used_at") - passed
            )
        for place in list(self.live):
            self.end(place)
        self.proofs = {place: age + minutes for place, age in self.proofs.items() if age + minutes < 10}

    @rule(index=browsers)
    def look_at_the_account(self, index: int) -> None:
        person = self.signed_in[index]
        answer = self.browsers[index].get("/account")
        assert answer.status_code == (303 if person is None else 200)
        assert person is None or self.emails[person] in answer.text

    def teardown(self) -> None:
        """Nobody but who proved an address is signed in at the end."""
        for index in self.signed_in:
            self.look_at_the_account(index)


def test_property_verification_codes_behave_as_their_model(here):
    codes.reachable(here)

    run_machine(lambda: VerificationCodes(here), examples=4, steps=20)


def of_any_browser(rows, *, purpose, kind, key, browser):
    """``CodeQuerySet.matching`` without its last condition."""
    return rows.filter(purpose=purpose, kind=kind, identifier_key=key)


class TestTheMachine:
    """It notices what is broken on purpose: the shortest way there, step by step."""

    def test_notices_that_a_code_counts_in_every_browser(self, here, monkeypatch):
        machine = begun(here)
        machine.ask_for_a_code(browser=0, person=0, purpose="sign_in")
        monkeypatch.setattr(CodeQuerySet, "matching", of_any_browser)

        with pytest.raises(AssertionError):
            machine.enter_it_where_it_does_not_belong(pick=CHOICE, change="browser")

    def test_notices_that_a_proof_works_twice(self, here, monkeypatch):
        monkeypatch.setattr(verification, "spend", lambda *_, **__: None)
        monkeypatch.setattr(VerificationCode, "is_outdated", lambda *_: False)
        machine = begun(here)
        machine.ask_for_a_code(browser=0, person=0, purpose="forgot_password")

        with pytest.raises(AssertionError):
            machine.enter_the_right_code(pick=CHOICE, go_on=True)

    def test_notices_that_a_proof_outlives_a_new_password(self, here, monkeypatch):
        monkeypatch.setattr(VerificationCode, "is_outdated", lambda *_: False)
        machine = begun(here)
        for browser in (0, 1):
            machine.ask_for_a_code(browser=browser, person=0, purpose="forgot_password")
            place = (browser, 0, "forgot_password")
            machine.enter(place, machine.live[place].text)
        machine.choose(0, 0)

        with pytest.raises(AssertionError):
            machine.choose(1, 0)

    def test_notices_that_wrong_codes_are_not_counted(self, here, monkeypatch):
        monkeypatch.setattr(verification, "F", lambda name: F(name) * 0)
        machine = begun(here)
        machine.ask_for_a_code(browser=0, person=0, purpose="sign_in")

        with pytest.raises(AssertionError):
            machine.guess(pick=CHOICE, times=5)


def begun(here: InProcessWorld) -> VerificationCodes:
    codes.reachable(here)
    machine = VerificationCodes(here)
    machine.begin()
    return machine
