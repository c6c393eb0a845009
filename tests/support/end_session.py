"""A visit at an application, and what the end-session endpoint answers."""

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import httpx

from identity.users.models import User
from tests.support import cast
from tests.support.cast import Browser, RelyingParty, World

PATH = "/oidc/end-session"
HOME = "https://rp.example/bye"
STATE = "s" * 128


@dataclass
class Visit:
    """A person signed in at an application, and what the application holds."""

    world: World
    browser: Browser
    client: RelyingParty
    user: User
    tokens: dict[str, Any]

    @property
    def hint(self) -> str:
        return str(self.tokens["id_token"])

    def end(self, **parameters: str) -> httpx.Response:
        return self.browser.get(PATH, params=parameters)

    def is_signed_in(self) -> bool:
        return is_signed_in(self.browser, self.client)


def is_signed_in(browser: Browser, client: RelyingParty) -> bool:
    """Ask as an application would: silently."""
    answer = browser.authorize(client, prompt="none")
    said = cast.query_of(answer.headers["Location"])
    assert "code" in said or said["error"] == "login_required", said
    return "code" in said


def visit(world: World, client: RelyingParty | None = None, user: User | None = None, **parameters) -> Visit:
    client = client or world.application(post_logout_redirect_uris=[HOME])
    user, browser = user or world.user(), world.browser()
    return Visit(world, browser, client, user, client.tokens_for(user, browser, **parameters))


def hidden_fields(page: httpx.Response) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page.text))


def is_asked(answer: httpx.Response) -> dict[str, str]:
    """Check that the person is asked, and return what the form would send."""
    assert answer.status_code == 200, answer.text
    assert "Location" not in answer.headers
    fields = hidden_fields(answer)
    assert fields["confirm"] == "yes"
    assert fields["csrfmiddlewaretoken"]
    return fields


def is_signed_out_page(answer: httpx.Response) -> None:
    assert answer.status_code == 200, answer.text
    assert "Location" not in answer.headers
    assert "You are signed out" in answer.text
    assert answer.headers["Cache-Control"] == "no-store"


def is_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 400, answer.text
    assert "Location" not in answer.headers
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "You were not signed out" in answer.text


def is_sent_to(answer: httpx.Response, target: str, **parameters: str) -> None:
    """Check that the browser goes to a target with exactly these parameters added."""
    assert answer.status_code == 303, answer.text
    location, _, query = answer.headers["Location"].partition("?")
    assert location == target
    assert dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))) == parameters
