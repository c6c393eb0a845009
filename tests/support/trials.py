"""Trying a sign-in on the page of an application, as an administrator does it by hand."""

import html
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from identity.users.models import User
from tests.support.cast import Browser, RelyingParty, World, query_of
from tests.support.operators import Operator, administrator

SITE = "/admin/applications/application"


def page_of(client: RelyingParty) -> str:
    return f"{SITE}/{client.application.pk}/do/try-sign-in/"


def operator_of(world: World, **fields: Any) -> Operator:
    """An administrator who is signed in and works in the tenant."""
    somebody = Operator(administrator(**fields))
    somebody.http.base_url = httpx.URL(world.address.partition("/t/")[0])
    somebody.sign_in()
    return somebody.choose(world)


@dataclass
class Trial:
    """One browser, which is both at the operators' site and at the pages of users."""

    world: World
    operator: Operator

    @property
    def browser(self) -> Browser:
        return Browser(self.world, self.operator.http)

    def begin(self, client: RelyingParty, **typed: str) -> str:
        """Press the button; return the page where the user signs in."""
        answer = self.press(client, **typed)
        assert answer.status_code == 303, answer.text
        assert answer.headers["Location"].startswith(f"{urlsplit(self.world.address).path}/oidc/authorize/")
        return str(self.browser.get(answer.headers["Location"]).headers["Location"])

    def press(self, client: RelyingParty, **typed: str) -> Any:
        typed = {"scope": "openid profile email", "signs_in_again": "on"} | typed
        return self.operator.submit(page_of(client), **{name: text for name, text in typed.items() if text})

    def sign_in(self, place: str, user: User) -> str:
        """Sign in, agree if asked; return the callback with the answer."""
        interaction = query_of(place)["interaction"]
        signed_in = self.browser.sign_in(user, interaction=interaction)
        assert signed_in.status_code == 200, signed_in.text
        place = self.browser.get(signed_in.json()["result"]["redirect_to"]).headers["Location"]
        return self.consent(place) if "/consent" in place else place

    def consent(self, place: str, allow: str = "allow") -> str:
        url = f"{self.world.address.partition('/t/')[0]}{place}"
        answer = self.operator.submit(url, choice=allow)
        assert answer.status_code == 303, answer.text
        to = str(answer.headers["Location"])
        return str(self.browser.get(to).headers["Location"]) if "/admin/" not in to else to

    def run(self, client: RelyingParty, user: User, **typed: str) -> str:
        """Try a sign-in from the button to the result, and return the text of the result page."""
        return self.read(self.operator.get(self.sign_in(self.begin(client, **typed), user)))

    def read(self, answer: Any) -> str:
        assert answer.status_code == 302, answer.text
        page = self.operator.get(answer.headers["Location"])
        assert page.status_code == 200
        return text_of(page)


def text_of(page: Any) -> str:
    """What a page says, without its tags."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text)))
