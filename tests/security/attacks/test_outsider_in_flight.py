"""What is pending in a session when its account gets its owner back."""

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import pytest

from identity.users import credentials
from identity.users.models import User
from interaction.journeys import codes as code_journey
from interaction.journeys import consent as consent_journey
from interaction.journeys.second_factor import reauthentication
from oidc.grants.models import Consent
from tests.support import account, codes
from tests.support.cast import PASSWORD, Browser, World
from tests.support.codes import new_email, new_phone
from tests.support.forms import form
from tests.support.in_process import InProcessWorld
from tests.support.stalled import Stalled, interrupted
from tests.support.third_parties import consent_page


@dataclass
class Stage:
    """Somebody who knows the password that the owner had, at the last step of something."""

    world: World
    owner: User
    email: str
    monkeypatch: pytest.MonkeyPatch
    attacker: Browser

    def filled(self, path: str, **typed: str) -> Callable[[], httpx.Response]:
        """What sends a form, asking this process, where a step can be slow."""
        fields = form(self.attacker.get(path)).fields | typed
        near = InProcessWorld.of(self.world).browser()
        near.http.cookies.update(self.attacker.http.cookies)
        return lambda: near.post(path, data=fields)

    def add_phone(self) -> tuple[Stalled, Callable[[], httpx.Response]]:
        phone = new_phone()
        fields = form(self.attacker.get("/account/phone")).fields
        fields |= {"identifier": phone, "password": PASSWORD}
        assert self.attacker.post("/account/phone", data=fields).is_redirect
        last = self.filled("/account/phone/code", code=codes.message_to(phone)["code"])
        return Stalled.at(self.monkeypatch, code_journey, "verify"), last

    def rename(self) -> tuple[Stalled, Callable[[], httpx.Response]]:
        last = self.filled("/account/username", username="mallory", password=PASSWORD)
        return Stalled.at(self.monkeypatch, reauthentication, "reauthenticate"), last

    def delete(self) -> tuple[Stalled, Callable[[], httpx.Response]]:
        last = self.filled("/account/delete", typed="ada", password=PASSWORD)
        return Stalled.at(self.monkeypatch, reauthentication, "reauthenticate"), last

    def download(self) -> tuple[Stalled, Callable[[], httpx.Response]]:
        last = self.filled("/account/data", password=PASSWORD)
        return Stalled.at(self.monkeypatch, reauthentication, "reauthenticate"), last

    def set_password(self) -> tuple[Stalled, Callable[[], httpx.Response]]:
        last = self.filled("/account/password", new_password=account.NEW)
        return Stalled.at(self.monkeypatch, credentials, "hash_new_password"), last

    def recover(self) -> None:
        browser = self.world.browser()
        codes.proven(browser, self.email, "forgot_password")
        done = browser.post(codes.RESET, json={"identifier": self.email, "new_password": "Vict1mpassword"})
        assert done.status_code == 200, done.text

    def sign_out_everywhere_else(self) -> None:
        browser = self.world.browser()
        browser.sign_in(self.owner)
        page = form(browser.get("/account/browsers"))
        assert browser.post("/account/browsers", data=page.fields | {"end": "others"}).is_redirect


@pytest.fixture
def stage(acme: World, monkeypatch: pytest.MonkeyPatch) -> Stage:
    codes.experience(codes.reachable(acme), account={"username_change": True, "deletion": True})
    email = new_email()
    owner = acme.user("ada", email=email)
    attacker = acme.browser()
    attacker.sign_in(owner)
    return Stage(acme, owner, email, monkeypatch, attacker)


@pytest.mark.parametrize("interruption", [Stage.recover, Stage.sign_out_everywhere_else])
@pytest.mark.parametrize("attack", [Stage.add_phone, Stage.rename, Stage.delete])
def test_attack_what_i_began_lands_after_you_took_your_account_back(stage, attack, interruption):
    """My request is in the middle; you recover, or sign me out."""
    stalled, send = attack(stage)

    landed = interrupted(stalled, send, lambda: interruption(stage))

    with stage.world.active():
        person = User.objects.get(pk=stage.owner.pk)
    assert (person.username, person.phone) == ("ada", "")
    assert landed.status_code == 403


@pytest.mark.parametrize("interruption", [Stage.recover, Stage.sign_out_everywhere_else])
def test_attack_i_download_your_data_after_you_took_your_account_back(stage, interruption):
    stalled, send = stage.download()

    landed = interrupted(stalled, send, lambda: interruption(stage))

    assert landed.status_code == 403
    assert "Content-Disposition" not in landed.headers


def test_attack_a_first_password_is_not_set_in_a_session_that_the_owner_ended(stage):
    account.change(stage.world, stage.owner, password="", email_verified=True)
    owner = stage.world.browser()
    codes.proven(owner, stage.email, "sign_in")
    others = form(owner.get("/account/browsers")).fields | {"end": "others"}
    stalled, send = stage.set_password()

    landed = interrupted(stalled, send, lambda: owner.post("/account/browsers", data=others))

    assert landed.status_code == 403
    assert account.stored(stage.world, stage.owner).password == ""
    assert account.is_signed_in(owner)


def sent_by(browser: Browser, page: httpx.Response, choice: str) -> Callable[[], httpx.Response]:
    """What presses a button of a page, asking this process."""
    found = form(page)
    near = InProcessWorld.of(browser.world).browser()
    near.http.cookies.update(browser.http.cookies)
    return lambda: near.post(found.action or page.url.path, data=found.fields | {"choice": choice})


def test_attack_i_allow_my_application_in_your_name_while_you_prove_your_address(acme, monkeypatch):
    """I registered with your address; my *Allow* is in the middle when you come."""
    codes.reachable(acme)
    evil = acme.application(is_third_party=True)
    mail = new_email()
    attacker = acme.browser()
    registration = {"username": "mallory", "password": "Attack3rpass!", "email": mail}
    assert attacker.post(codes.REGISTER, json=registration).status_code == 200
    allow = sent_by(attacker, consent_page(attacker, evil), "allow")
    victim = acme.browser()

    def prove() -> None:
        answer = codes.enter(victim, mail, codes.sent(victim, mail))
        assert answer.status_code == 200, answer.text

    landed = interrupted(Stalled.at(monkeypatch, consent_journey, "is_current"), allow, prove)

    assert "/oidc/authorize/" in landed.headers["Location"]
    with acme.active():
        assert not Consent.objects.exists()
    assert "/sign-in?" in attacker.get(landed.headers["Location"]).headers["Location"]
    assert "/consent?" in victim.authorize(evil).headers["Location"]
