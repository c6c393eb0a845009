"""The pages of users, in a browser without scripts."""

import html
import re
from typing import Any

import httpx
import jwt

from identity.sessions.models import Session
from identity.users.models import User
from tests.support.cast import PASSWORD, Browser, RelyingParty, World, query_of

EXPIRED = "This sign-in has expired"


def opened(browser: Browser, client: RelyingParty, **parameters: str) -> httpx.Response:
    """Start an authorization and open the page it leads to."""
    answer = browser.authorize(client, **parameters)
    assert answer.status_code == 303
    page = browser.get(answer.headers["Location"])
    assert page.status_code == 200, page.text
    return page


def followed(browser: Browser, answer: httpx.Response) -> httpx.Response:
    """Follow redirects within our own site, and return the first answer that leads elsewhere or nowhere."""
    while answer.headers.get("Location", "").startswith("/"):
        assert answer.status_code == 303
        answer = browser.get(answer.headers["Location"])
    return answer


def typed(user: User, **changes: Any) -> dict[str, Any]:
    return {"identifier": user.username, "password": PASSWORD} | changes


def title(page: httpx.Response) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page.text, re.DOTALL)
    assert found, page.text
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]).strip())


def subject(client: RelyingParty, answer: httpx.Response) -> str:
    """Redeem the code of an answer, and return the ``sub`` of the ID token."""
    tokens = client.redeem(query_of(answer.headers["Location"])["code"]).json()
    return str(jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"])


def sessions(world: World) -> int:
    with world.active():
        return Session.objects.count()
