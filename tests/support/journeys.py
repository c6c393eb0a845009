"""Steps of users in a real browser: to the sign-in page, through it, and back to the application."""

import re
from urllib.parse import urlencode

import jwt
from playwright.sync_api import Page, expect

from identity.users.models import User
from tests.support.cast import PASSWORD, RelyingParty, query_of


def start(page: Page, client: RelyingParty, **parameters: str) -> None:
    """Go to the authorization endpoint, as a link of the application leads there."""
    page.goto(f"{client.world.address}/oidc/authorize?{urlencode(client.request(**parameters))}")


def sign_in(page: Page, user: User, password: str = PASSWORD) -> None:
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


def subject(client: RelyingParty, answer: str) -> str:
    """Redeem the code of an answer, and return whom it stands for."""
    assert query_of(answer)["iss"] == client.world.issuer
    tokens = client.redeem(query_of(answer)["code"], redirect_uri=answer_uri(answer, client)).json()
    return str(jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"])


def answer_uri(answer: str, client: RelyingParty) -> str:
    """Return the redirect URI that an answer came to; a path is one of the registered site."""
    uri = re.split(r"[?#]", answer)[0]
    return uri if ":" in uri else client.application.redirect_uris[0]


def shows(page: Page, title: str) -> None:
    """Wait until a page with this heading is there."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
