"""CAPTCHAs: proven against providers that answer as hCaptcha and Turnstile document it, over HTTP."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from identity.core.slots import Slots
from interaction.connectors import captcha
from interaction.connectors import services as connectors
from interaction.connectors.captcha import Unavailable
from interaction.connectors.models import Connector
from interaction.connectors.services import NotWorking
from tests.support import codes, second
from tests.support.cast import PASSWORD, World
from tests.support.forms import form, forms
from tests.support.providers import Answer, Asked, WebProvider, answer, web_provider

KEYS = {
    "site_key": "10000000-ffff-ffff-ffff-000000000001",
    "secret_key": f"0x{'0' * 40}",
}
PATHS = {"hcaptcha": "/siteverify", "turnstile": "/turnstile/v0/siteverify"}
FIELDS = {"hcaptcha": "h-captcha-response", "turnstile": "cf-turnstile-response"}
USED = {"hcaptcha": "already-seen-response", "turnstile": "timeout-or-duplicate"}


class SiteVerify:
    """Answers as the providers' documentation has it: a form in, JSON out, each token good once."""

    def __init__(self, web: WebProvider, name: str) -> None:
        self.name, self.good, self.web = name, {"solved", "solved too"}, web
        web.answers[PATHS[name]] = self.verify

    def verify(self, asked: Asked) -> Answer:
        assert asked.method == "POST"
        assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
        sent = asked.form
        if sent.get("secret") != KEYS["secret_key"]:
            return answer(200, {"success": False, "error-codes": ["invalid-input-secret"]})
        if sent["response"] not in self.good:
            known = USED[self.name] if sent["response"].startswith("solved") else "invalid-input-response"
            return answer(200, {"success": False, "error-codes": [known]})
        self.good.remove(sent["response"])
        said: dict[str, Any] = {"success": True, "challenge_ts": "2026-11-22T10:00:00Z"}
        more: dict[str, Any] = {"error-codes": []} if self.name == "turnstile" else {"credit": False}
        return answer(200, said | more | {"hostname": "localhost"})


@pytest.fixture(scope="module")
def server(address: str) -> Iterator[str]:
    """A server that may talk to loopback."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture(params=list(PATHS))
def verifier(request: Any, development: Any) -> Iterator[SiteVerify]:
    with web_provider() as web:
        yield SiteVerify(web, request.param)


@pytest.fixture
def asking(acme: World, server: str, verifier: SiteVerify) -> World:
    """A tenant that asks for a CAPTCHA."""
    world = codes.reachable(acme.at(server))
    codes.experience(world, sign_up={"identifiers": ["username"], "password": True, "verify": False})
    enable(world, verifier)
    return world


def enable(world: World, verifier: SiteVerify, **changes: str) -> Any:
    config = KEYS | {"endpoint": verifier.web.address} | changes
    with world.active():
        return connectors.create(
            connector_id=verifier.name, type="Captcha", config=config, enabled=True, is_proven=True
        )


def register(world: World, **more: Any) -> Any:
    name = f"u{codes.new_email().partition('@')[0]}"
    return world.browser().post(codes.REGISTER, json={"username": name, "password": PASSWORD} | more)


def test_registering_asks_for_a_token_that_is_good_once(asking):
    missing, wrong = register(asking), register(asking, captcha_token="made up")
    right, again = register(asking, captcha_token="solved"), register(asking, captcha_token="solved")

    assert [one.status_code for one in (missing, wrong, right, again)] == [400, 400, 200, 400]
    assert all("captcha_token" in one.json()["message"] for one in (missing, wrong, again))


def test_having_a_code_sent_asks_for_one_whoever_is_meant(asking):
    known, unknown = codes.new_email(), codes.new_email()
    asking.user(email=known)

    refused = [
        codes.send(asking.browser(), to, captcha_token=token)
        for to in (known, unknown)
        for token in ("", "x")
    ]
    sent = codes.send(asking.browser(), unknown, captcha_token="solved")

    assert [one.status_code for one in refused] == [400] * 4
    assert refused[0].json()["message"] == refused[2].json()["message"]
    assert refused[1].json()["message"] == refused[3].json()["message"]
    assert sent.status_code == 200


def test_it_is_off_until_somebody_switches_it_on(asking):
    with asking.active():
        for connector in Connector.objects.filter(type="Captcha"):
            connectors.change(connector, {"enabled": False}, expected=None, is_proven=True)

    assert register(asking).status_code == 200
    page = asking.browser().get("/register")
    assert "captcha" not in page.headers["Content-Security-Policy"]
    assert '<script src="https' not in page.text
    assert asking.get("/api/interaction/sign-in-experience").json()["result"]["captcha"] is None


def test_the_page_loads_the_widget_and_says_that_it_needs_javascript(asking, verifier):
    browser = asking.browser()
    page = browser.get("/register")
    name = f"u{codes.new_email().partition('@')[0]}"

    refused = form(page).submit(browser, username=name, password=PASSWORD)
    taken = form(page).submit(browser, username=name, password=PASSWORD, **{FIELDS[verifier.name]: "solved"})

    assert KEYS["site_key"] in page.text
    assert "needs JavaScript" in page.text
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    for directive in ("script-src 'self' https://", "frame-src https://"):
        assert directive in policy
    assert refused.status_code == 400
    assert "Confirm that you&#x27;re a person" in refused.text
    assert taken.status_code == 303


def test_the_page_that_sends_codes_asks_too(asking, verifier):
    browser = asking.browser()
    page = browser.get("/sign-in/code")

    refused = form(page).submit(browser, identifier=codes.new_email())
    sent = form(page).submit(browser, identifier=codes.new_email(), **{FIELDS[verifier.name]: "solved"})

    assert (refused.status_code, sent.status_code) == (400, 200)
    # The next page sends a new code, and has a widget for that.
    assert sent.text.count(f'data-sitekey="{KEYS["site_key"]}"') == 1
    again = forms(sent)[-1].submit(browser, **{FIELDS[verifier.name]: "solved too"})
    assert "We sent a code a moment ago" in again.text


@pytest.mark.parametrize("code", ["000000", ""], ids=["wrong", "empty"])
def test_after_a_code_that_is_not_right_another_can_be_sent(asking, verifier, code):
    to, browser = codes.new_email(), asking.browser()
    asking.user(email=to)
    solved = {FIELDS[verifier.name]: "solved"}
    sent = form(browser.get("/sign-in/code")).submit(browser, identifier=to, **solved)

    wrong = forms(sent)[0].submit(browser, code=code)
    codes.let_time_pass(asking)
    again = forms(wrong)[-1].submit(browser, **{FIELDS[verifier.name]: "solved too"})

    assert wrong.status_code == 400
    assert wrong.text.count(f'data-sitekey="{KEYS["site_key"]}"') == 1
    assert "frame-src https://" in wrong.headers["Content-Security-Policy"]
    assert again.status_code == 200
    assert codes.message_to(to, number=2)["code"] != codes.message_to(to)["code"]


def test_a_front_end_learns_which_one_to_show(asking, verifier):
    shown = asking.get("/api/interaction/sign-in-experience").json()["result"]["captcha"]

    assert shown == {"connector_id": verifier.name, "site_key": KEYS["site_key"]}


@pytest.mark.parametrize(
    "said", [answer(500, {}), answer(200, []), answer(200, {"success": "yes"}), (200, {}, b"<html>")]
)
def test_a_provider_that_says_nothing_lets_nobody_in(asking, verifier, said):
    verifier.web.answers[PATHS[verifier.name]] = said

    refused = register(asking, captcha_token="solved")

    assert refused.status_code == 503
    assert refused.headers["Retry-After"]


def test_the_test_of_the_connector_says_whether_the_secret_is_right(asking, verifier):
    good = enable(asking, verifier)
    bad = enable(asking, verifier, secret_key="another")

    with asking.active():
        assert "accepts this secret_key" in connectors.test(good, to="")
        with pytest.raises(NotWorking) as refused:
            connectors.test(bad, to="")

    assert "secret_key" in str(refused.value.result)


def test_attack_my_slow_provider_takes_the_slots_of_your_tenant(acme, rival, verifier, monkeypatch):
    slots = Slots(4)
    monkeypatch.setattr(captcha, "PROVIDERS", slots)
    for world in (acme, rival):
        enable(world, verifier)

    with acme.active(), ExitStack() as waiting:
        for _ in range(3):
            waiting.enter_context(slots.take(Unavailable()))
        with pytest.raises(Unavailable) as refusal:
            captcha.check("solved")
        with rival.active():
            captcha.check("solved")

    assert refusal.value.headers == {"Retry-After": "2"}
