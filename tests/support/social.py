"""Signing in with another provider: the button, the provider, and the callback."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.experience import services as experiences
from tests.support import openid
from tests.support.cast import Browser, World, new_secret, query_of, s256
from tests.support.openid import OpenIDProvider
from tests.support.providers import Answer, Asked, WebProvider, answer

SHARED_CALLBACK = "/social/callback"

# Where a provider was told to send the browser back to, by the state of the trip.
_redirect_uris: dict[str, str] = {}


def connect(
    world: World,
    config: dict[str, str],
    connector_id: str = "oidc",
    *,
    kind: str = "Social",
    enabled: bool = True,
) -> Connector:
    with world.active():
        return connectors.create(
            connector_id=connector_id, type=kind, config=config, enabled=enabled, is_proven=True
        )


def share_callback(world: World, connector: Connector) -> None:
    """Let a connector use the shared callback, as those that release 0.1.0 made do."""
    with world.active():
        Connector.objects.filter(pk=connector.pk).update(has_own_callback=False)


def allow(world: World, **social_sign_in: bool) -> None:
    with world.active():
        experiences.change({"social_sign_in": social_sign_in}, is_proven=True)


def note_redirect_uri(address: str) -> str:
    """Remember where the provider at this address is to send the browser back to."""
    asked = query_of(address)
    _redirect_uris[asked["state"]] = asked["redirect_uri"]
    return address


def away(browser: Browser, connector_id: str = "oidc", **query: str) -> str:
    """Press the button, and return the address of the redirect."""
    answer = browser.get(f"/social/{connector_id}", params=query)
    assert answer.status_code == 303, answer.text
    return note_redirect_uri(str(answer.headers["Location"]))


def callback_of(query: dict[str, str]) -> str:
    """The redirect URI that was sent with the state of this answer."""
    return _redirect_uris.get(query.get("state", ""), SHARED_CALLBACK)


def back(browser: Browser, query: dict[str, str], to: str = "") -> httpx.Response:
    return browser.get(to or callback_of(query), params=query)


def came(browser: Browser, provider: OpenIDProvider, **person: Any) -> httpx.Response:
    """Sign in at the provider, and return the answer to the callback."""
    return back(browser, provider.approve(away(browser), **person))


def oauth2_config(address: str) -> dict[str, str]:
    """The configuration of an ``oauth2`` connector to a provider at this address."""
    return openid.CLIENT | {
        "authorization_endpoint": f"{address}/authorize",
        "token_endpoint": f"{address}/token",
        "userinfo_endpoint": f"{address}/me",
    }


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


def with_proven_email(world: World, email: str) -> User:
    """A user who proved this address."""
    user = world.user(email=email)
    with world.active():
        User.objects.filter(pk=user.pk).update(email_verified=True)
    return user


@dataclass
class HonestProvider:
    """An OAuth 2 provider that keeps the rules: registered redirect URIs, PKCE, codes good once."""

    web: WebProvider
    registered: set[str] = field(default_factory=set)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def sign_on(self, asked: dict[str, str], subject: str) -> str:
        """Answer an authorization request of a browser in which somebody is signed in already."""
        assert asked["redirect_uri"] in self.registered
        code = new_secret()
        self.codes[code] = asked | {"subject": subject}
        return code

    def token(self, asked: Asked) -> Answer:
        granted = self.codes.pop(asked.form["code"], None)
        if granted is None or s256(asked.form["code_verifier"]) != granted["code_challenge"]:
            return answer(400, {"error": "invalid_grant"})
        self.web.answers["/me"] = answer(200, {"id": granted["subject"], "name": granted["subject"]})
        return answer(200, {"access_token": "theirs", "token_type": "Bearer"})
