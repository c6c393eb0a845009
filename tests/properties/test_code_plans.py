"""Plans for codes against all steps: no change before a code is redeemed is missed by any worker."""

from datetime import timedelta
from functools import partial
from typing import Any

from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import rule

from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants import codes
from oidc.grants.models import AuthorizationCode, RefreshFamily
from tests.properties.changed_grants import API, SCOPE, Changes, described
from tests.support.cast import CALLBACK, Browser, new_secret, s256
from tests.support.properties import run_machine

_OTHER = f"{CALLBACK}/other"


class Codes(Changes):
    """Each server has codes, which were issued before the last change. What follows is for all of them.

    ``sent`` changes the parameters of the token requests, and ``asked`` those of the next codes.
    """

    forms = ({}, {"resource": API})

    def prepare(self, browser: Browser) -> None:
        assert browser.sign_in(self.user).status_code == 200
        with self.here.active():
            self.session = Session.objects.get(user=self.user)
        self.asked: dict[str, Any] = {}
        self.sent: dict[str, str] = {}
        self.is_replayed = False
        self.verifier = new_secret()
        self.codes: list[list[str]] = []

    def issue(self) -> list[str]:
        """Issue a code for each server."""
        issued = []
        with self.here.active():
            for _ in self.worlds:
                asked: dict[str, Any] = {
                    **dict.fromkeys(("resource", "organization_id"), ""),
                    "redirect_uri": CALLBACK,
                    "scope": SCOPE,
                    "claims": {},
                    "nonce": "n",
                    "code_challenge": s256(self.verifier),
                    "consent_id": None,
                }
                session = Session.objects.select_related("user").get(pk=self.session.pk)
                code = codes.issue(application=self.row(), session=session, **(asked | self.asked))
                issued.append(str(code))
        return issued

    # The codes

    @rule(name=st.sampled_from(["expires_at", "consumed_at"]))
    def end_the_codes(self, name: str) -> None:
        self.change_grants(**{name: timezone.now()})

    @rule(scope=st.sampled_from([SCOPE, "openid", "openid read"]), resource=st.sampled_from(["", API]))
    def ask_for_other_codes(self, scope: str, resource: str) -> None:
        self.asked |= {"scope": scope, "resource": resource}

    @rule(is_used=st.booleans())
    def use_pkce(self, is_used: bool) -> None:
        self.asked["code_challenge"] = s256(self.verifier) if is_used else ""

    @rule(verifier=st.sampled_from(["", "x" * 43, "x" * 42]))
    def send_another_verifier(self, verifier: str) -> None:
        self.sent["code_verifier"] = verifier

    @rule()
    def send_another_redirect_uri(self) -> None:
        self.sent["redirect_uri"] = _OTHER

    @rule()
    def send_what_is_right(self) -> None:
        self.sent.clear()

    @rule(is_replayed=st.booleans())
    def replay_the_codes(self, is_replayed: bool) -> None:
        self.is_replayed = is_replayed

    # The session

    @rule()
    def end_the_session(self) -> None:
        self.change_session(ended_at=timezone.now())

    @rule()
    def continue_the_session(self) -> None:
        with self.here.active():
            epoch = User.objects.get(pk=self.user.pk).epoch
        self.change_session(ended_at=None, epoch=epoch)
        self.change_grants(epoch=epoch)

    @rule(remembered=st.booleans())
    def forget_the_browser(self, remembered: bool) -> None:
        self.change_session(remembered=remembered, level=1)
        self.change_grants(level=1)

    # The application

    @rule(uris=st.sampled_from([[CALLBACK], [_OTHER], [CALLBACK, _OTHER]]))
    def change_the_redirect_uris(self, uris: list[str]) -> None:
        self.change_application(redirect_uris=uris)

    @rule(required=st.booleans())
    def require_pkce(self, required: bool) -> None:
        self.change_application(require_pkce=required)

    def ask_all(self, auth: tuple[str, str], form: dict[str, str]) -> list[Any]:
        presented = self.codes.pop(0) if self.codes else self.issue()
        times = range(2 if self.is_replayed else 1)
        answers = [
            [self.redeem(number, code, auth, form) for _ in times] for number, code in enumerate(presented)
        ]
        while len(self.codes) < 2 * (len(self.forms) + 1):
            self.codes.append(self.issue())
        return answers

    def redeem(self, number: int, code: str, auth: tuple[str, str], more: dict[str, str]) -> list[Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, **more}
        form |= {"code_verifier": self.verifier} | self.sent
        if not form["code_verifier"]:
            del form["code_verifier"]
        answer = self.worlds[number].post("/oidc/token", data=form, auth=auth)
        with self.here.active():
            row = AuthorizationCode.objects.get(code_hash=codes.get_hash(code))
            families = [_describe(each) for each in RefreshFamily.objects.filter(pk=row.family_id)]
        return [*described(answer), row.consumed_at is None, row.access_token_id is None, families]

    def change_session(self, **fields: Any) -> None:
        with self.here.active():
            Session.objects.filter(pk=self.session.pk).update(**fields)

    def change_grants(self, **fields: Any) -> None:
        hashes = [codes.get_hash(code) for presented in self.codes for code in presented]
        with self.here.active():
            AuthorizationCode.objects.filter(code_hash__in=hashes).update(**fields)


def _describe(family: RefreshFamily) -> tuple[Any, ...]:
    lifetimes = [
        round((end - family.created_at) / timedelta(hours=1))
        for end in (family.idle_expires_at, family.expires_at)
    ]
    same = ("scope", "claims", "level", "acr", "remembered", "consent_id", "epoch", "end_reason")
    return *lifetimes, *(getattr(family, name) for name in same)


def test_no_change_is_missed_by_another_worker(here, workers):
    run_machine(partial(Codes, here, workers), examples=3, steps=15)
