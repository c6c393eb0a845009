"""A user who is signed in at an application, and the answers of the end-session endpoint."""

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
    """Return whether a request with ``prompt=none`` finds a session."""
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


def is_asked(answer: httpx.Response) -> bool:
    """Say whether a page asks the person to confirm."""
    fields = hidden_fields(answer)
    is_page = answer.status_code == 200 and "Location" not in answer.headers
    return is_page and fields.get("confirm") == "yes" and bool(fields.get("csrfmiddlewaretoken"))


def question(answer: httpx.Response) -> dict[str, str]:
    """Return the fields of the form with which a page asks the user to confirm."""
    assert is_asked(answer), answer.text
    return hidden_fields(answer)


def is_signed_out_page(answer: httpx.Response) -> bool:
    return (
        answer.status_code == 200
        and "Location" not in answer.headers
        and "You are signed out" in answer.text
        and answer.headers["Cache-Control"] == "no-store"
    )


def is_refused(answer: httpx.Response) -> bool:
    return (
        answer.status_code == 400
        and "Location" not in answer.headers
        and answer.headers["Content-Type"].startswith("text/html")
        and "You were not signed out" in answer.text
    )


def sent_to(answer: httpx.Response) -> tuple[str, dict[str, str]] | None:
    """Return where the browser is sent and with which parameters, or nothing if it is not sent elsewhere."""
    if answer.status_code != 303:
        return None
    location, _, query = answer.headers["Location"].partition("?")
    return location, dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
