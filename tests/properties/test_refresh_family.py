"""Refresh families against a model: which token is answered, with what, and what ends a family."""

import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
from django.db.models import F
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from identity.users import services as users
from oidc.grants import families
from oidc.grants.models import RefreshFamily
from tests.support.in_process import InProcessWorld
from tests.support.properties import assert_finds_a_bug, run_machine

OPENID = "openid"
SCOPES = "openid profile offline_access"
WIDER = f"{SCOPES} email"
# The grace is 10 seconds of the database's clock. A slow machine must not reach its end unnoticed.
SURE_SECONDS = 7.0


@dataclass
class Family:
    """What should be true of one family."""

    tokens: list[str]
    access_tokens: list[str]
    revoked: set[str] = field(default_factory=set)
    rotated_at: float | None = None
    is_alive: bool = True

    @property
    def newest(self) -> int:
        return len(self.tokens) - 1

    @property
    def age_of_rotation(self) -> float | None:
        return None if self.rotated_at is None else time.monotonic() - self.rotated_at


class RefreshFamilies(RuleBasedStateMachine):
    """One person, an application with up to three families, and a thief with an application of their own."""

    def __init__(self, world: InProcessWorld) -> None:
        super().__init__()
        self.world = world
        self.families: list[Family] = []

    @initialize()
    def begin(self) -> None:
        self.user = self.world.user()
        self.client = self.world.application()
        self.thief = self.world.application(name="Thief")
        self.is_suspended = False
        self.sign_in()

    @precondition(lambda self: len(self.families) < 3 and not self.is_suspended)
    @rule()
    def sign_in(self) -> None:
        tokens = self.client.tokens_for(self.user, self.world.browser(), scope=SCOPES)
        self.families.append(Family([tokens["refresh_token"]], [tokens["access_token"]]))

    @rule(
        which=st.integers(0, 2), back=st.integers(0, 3), scope=st.sampled_from([None, OPENID, SCOPES, WIDER])
    )
    def refresh(self, which: int, back: int, scope: str | None) -> None:
        family = self.family(which)
        generation = max(0, family.newest - back)
        expected = self.outcome(family, generation)

        answer = self.client.refresh(family.tokens[generation], scope=scope)

        if expected == "refused":
            family.is_alive = False
            self.is_refused(answer)
            return
        body = answer.json()
        assert answer.status_code == 200, answer.text
        granted = set((scope or SCOPES).split()) & set(SCOPES.split())
        assert set(body["scope"].split()) == granted, "a refresh never gets more than the sign-in did"
        family.access_tokens.append(body["access_token"])
        if expected == "repeated":
            assert body["refresh_token"] == family.tokens[-1], "a retry gets the very same successor"
        else:
            assert body["refresh_token"] not in family.tokens
            family.tokens.append(body["refresh_token"])
            family.rotated_at = time.monotonic()

    def outcome(self, family: Family, generation: int) -> str:
        if not family.is_alive:
            return "refused"
        if generation == family.newest:
            return "rotated"
        age = family.age_of_rotation
        if generation == family.newest - 1 and age is not None:
            assume(age < SURE_SECONDS)
            return "repeated"
        return "refused"

    @rule(which=st.integers(0, 2), back=st.integers(0, 3))
    def steal(self, which: int, back: int) -> None:
        family = self.family(which)
        token = family.tokens[max(0, family.newest - back)]

        self.is_refused(self.thief.refresh(token))
        revoked = self.world.post("/oidc/revoke", data={"token": token}, auth=self.thief.basic)
        assert revoked.status_code == 200, "a stranger learns nothing, and ends nothing"

    @rule(which=st.integers(0, 2), cut=st.integers(1, 5))
    def cut_a_token(self, which: int, cut: int) -> None:
        self.is_refused(self.client.refresh(self.family(which).tokens[-1][:-cut]))

    @rule(which=st.integers(0, 2), back=st.integers(0, 3))
    def revoke_refresh_token(self, which: int, back: int) -> None:
        family = self.family(which)
        self.revoke(family.tokens[max(0, family.newest - back)])
        family.is_alive = False

    @rule(which=st.integers(0, 2), back=st.integers(0, 3))
    def revoke_access_token(self, which: int, back: int) -> None:
        family = self.family(which)
        token = family.access_tokens[max(0, len(family.access_tokens) - 1 - back)]
        self.revoke(token)
        family.revoked.add(token)

    @precondition(lambda self: any(family.rotated_at for family in self.families))
    @rule()
    def let_the_grace_pass(self) -> None:
        self.move(rotated_at=timedelta(seconds=11))
        for family in self.families:
            family.rotated_at = None

    @rule()
    def let_two_weeks_pass(self) -> None:
        self.move(idle_expires_at=timedelta(days=14))
        for family in self.families:
            family.is_alive = False

    @rule()
    def suspend_or_let_in_again(self) -> None:
        self.is_suspended = not self.is_suspended
        with self.world.active():
            (users.suspend if self.is_suspended else users.reactivate)(self.user)
        for family in self.families:
            family.is_alive = False

    @invariant()
    def access_tokens_live_with_their_family(self) -> None:
        for family in self.families:
            for token in family.access_tokens[-2:]:
                expected = 200 if family.is_alive and token not in family.revoked else 401
                assert self.client.userinfo(token).status_code == expected

    def family(self, which: int) -> Family:
        return self.families[which % len(self.families)]

    def revoke(self, token: str) -> None:
        answer = self.world.post("/oidc/revoke", data={"token": token}, auth=self.client.basic)
        assert answer.status_code == 200

    def move(self, **columns: timedelta) -> None:
        with self.world.active():
            RefreshFamily.objects.filter(user=self.user).update(
                **{name: F(name) - passed for name, passed in columns.items()}
            )

    @staticmethod
    def is_refused(answer: httpx.Response) -> None:
        assert (answer.status_code, answer.json().get("error")) == (400, "invalid_grant"), answer.text


def test_property_refresh_families_behave_as_their_model(here):
    run_machine(lambda: RefreshFamilies(here))


class TestTheMachine:
    """It finds what is broken on purpose."""

    def test_finds_that_a_replay_ends_nothing(self, here, monkeypatch):
        monkeypatch.setattr(families, "end", lambda *_, **__: None)

        assert_finds_a_bug(lambda: RefreshFamilies(here))

    def test_finds_that_another_application_is_answered(self, here, monkeypatch):
        real = families.find
        client_of: dict[Any, str] = {}

        def find(family_id: Any, *, client_id: str) -> Any:
            found = real(family_id, client_id=client_id)
            if found is not None:
                client_of[family_id] = client_id
            return found or (
                real(family_id, client_id=client_of[family_id]) if family_id in client_of else None
            )

        monkeypatch.setattr(families, "find", find)

        assert_finds_a_bug(lambda: RefreshFamilies(here))

    def test_finds_that_old_tokens_are_answered_like_new_ones(self, here, monkeypatch):
        real = families.rotate

        def rotate(family: Any, generation: int, entry: Any) -> Any:
            return real(family, family.generation, entry)

        monkeypatch.setattr(families, "rotate", rotate)

        assert_finds_a_bug(lambda: RefreshFamilies(here))
