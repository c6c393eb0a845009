"""Authorization codes against a model: who may redeem one, how often, and what a second use ends."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.db.models import F
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import services as users
from oidc.grants import codes, redemption
from oidc.grants.models import AuthorizationCode
from oidc.provider.validator import Validator
from tests.support.cast import RelyingParty, new_secret, query_of
from tests.support.in_process import InProcessWorld
from tests.support.properties import run_machine

REDIRECTS = ["https://rp.example/callback", "https://rp.example/other"]


@dataclass
class Code:
    """What should be true of one code, and of what it bought."""

    text: str
    client: RelyingParty
    redirect_uri: str
    verifier: str | None
    is_offline: bool
    is_redeemable: bool = True
    access_token: str = ""
    is_access_token_alive: bool = False


class AuthorizationCodes(RuleBasedStateMachine):
    """One person in one browser, and two applications that present each other's codes, too."""

    def __init__(self, world: InProcessWorld) -> None:
        super().__init__()
        self.world = world
        self.codes: list[Code] = []

    @initialize()
    def begin(self) -> None:
        self.user = self.world.user()
        self.browser = self.world.browser()
        self.clients = [self.world.application(name=name, redirect_uris=REDIRECTS) for name in "AB"]

    @precondition(lambda self: len(self.codes) < 5)
    @rule(which=st.integers(0, 1), redirect=st.integers(0, 1), offline=st.booleans(), pkce=st.booleans())
    def issue(self, which: int, redirect: int, offline: bool, pkce: bool) -> None:
        client, redirect_uri = self.clients[which], REDIRECTS[redirect]
        changes: dict[str, str | None] = {"redirect_uri": redirect_uri}
        if not offline:
            changes["scope"] = "openid"
        if not pkce:
            changes |= {"code_challenge": None, "code_challenge_method": None}
        text = self.browser.code_for(client, self.user, **changes)
        self.codes.append(Code(text, client, redirect_uri, client.verifier if pkce else None, offline))

    @precondition(lambda self: self.codes)
    @rule(which=st.integers(0, 4), times=st.integers(1, 2))
    def redeem(self, which: int, times: int) -> None:
        for _ in range(times):
            self.present(which, None)

    @precondition(lambda self: self.codes)
    @rule(which=st.integers(0, 4))
    def make_every_mistake(self, which: int) -> None:
        for wrong in ("client", "redirect_uri", "code_verifier", "code"):
            self.present(which, wrong)

    def present(self, which: int, wrong: str | None) -> None:
        code = self.codes[which % len(self.codes)]
        form: dict[str, str | None] = {"redirect_uri": code.redirect_uri, "code_verifier": code.verifier}
        client, text = code.client, code.text
        if wrong == "client":
            client = next(other for other in self.clients if other is not code.client)
        elif wrong == "redirect_uri":
            form["redirect_uri"] = next(other for other in REDIRECTS if other != code.redirect_uri)
        elif wrong == "code_verifier":
            form["code_verifier"] = new_secret()
        elif wrong == "code":
            text = text[:-1]

        answer = client.redeem(text, **form)

        if wrong is None and code.is_redeemable:
            assert answer.status_code == 200, answer.text
            assert ("refresh_token" in answer.json()) is code.is_offline
            code.is_redeemable = False
            code.access_token, code.is_access_token_alive = answer.json()["access_token"], True
            return
        assert (answer.status_code, answer.json().get("error")) == (400, "invalid_grant"), answer.text
        if wrong is None:
            code.is_access_token_alive = False

    @rule(what=st.sampled_from(["a minute passes", "signed out", "suspended"]))
    def something_ends(self, what: str) -> None:
        """One rule for all of it: codes have to live for a while, or there is nothing to see."""
        for code in self.codes:
            code.is_redeemable = False
        if what == "a minute passes":
            with self.world.active():
                AuthorizationCode.objects.update(expires_at=F("expires_at") - timedelta(seconds=60))
        elif what == "signed out":
            self.sign_out()
        else:
            self.suspend_and_let_in_again()

    def sign_out(self) -> None:
        with self.world.active():
            for session in Session.objects.filter(user=self.user, ended_at=None):
                sessions.end(session)
        for code in self.codes:
            code.is_access_token_alive &= code.is_offline

    def suspend_and_let_in_again(self) -> None:
        with self.world.active():
            users.suspend(self.user)
        answer: httpx.Response = self.browser.authorize(self.clients[0], prompt="none")
        assert query_of(answer.headers["Location"])["error"] == "login_required"
        with self.world.active():
            users.reactivate(self.user)
        for code in self.codes:
            code.is_access_token_alive = False

    @invariant()
    def access_tokens_live_as_long_as_what_they_hang_on(self) -> None:
        for code in self.codes:
            if code.access_token:
                expected = 200 if code.is_access_token_alive else 401
                assert code.client.userinfo(code.access_token).status_code == expected


def test_property_authorization_codes_behave_as_their_model(here):
    run_machine(lambda: AuthorizationCodes(here))


class TestTheMachine:
    """It notices what is broken on purpose: the shortest way there, step by step."""

    def test_notices_that_a_second_use_ends_nothing(self, here, monkeypatch):
        monkeypatch.setattr(codes, "revoke_issued", lambda _: None)
        machine = with_a_code(here)

        machine.redeem(which=0, times=2)

        with pytest.raises(AssertionError):
            machine.access_tokens_live_as_long_as_what_they_hang_on()

    def test_notices_that_a_code_works_twice(self, here, monkeypatch):
        monkeypatch.setattr(redemption, "_REDEEM_FOR_FAMILY", insert_the_family)
        machine = with_a_code(here)

        with pytest.raises(AssertionError):
            machine.redeem(which=0, times=2)

    def test_notices_that_the_redirect_uri_is_not_compared(self, here, monkeypatch):
        monkeypatch.setattr(Validator, "confirm_redirect_uri", lambda *_, **__: True)
        machine = with_a_code(here)

        with pytest.raises(AssertionError):
            machine.make_every_mistake(which=0)


def insert_the_family(_: Any, family: Any, entry: Any) -> bool:
    """``_REDEEM_FOR_FAMILY`` without using the code up."""
    family.save(force_insert=True)
    return True


def with_a_code(here: InProcessWorld) -> AuthorizationCodes:
    machine = AuthorizationCodes(here)
    machine.begin()
    machine.issue(which=0, redirect=0, offline=True, pkce=True)
    return machine
