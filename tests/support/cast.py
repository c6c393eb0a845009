"""The tenants of the tests, with their users and applications, and the browsers of users.

Every test gets tenants of its own, two of them, so that nothing has to be cleaned up and a
look-up that forgets its tenant is found out.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from django.conf import settings

from identity.core import tenancy
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users import passwords
from identity.users import services as users
from identity.users.models import User
from oidc.applications import services as applications
from oidc.applications.models import Application

PASSWORD = "tr0ub4dor and three"
CALLBACK = "https://rp.example/callback"


# Made once: reading the certificates of the world takes longer than most requests.
_TLS = httpx.create_ssl_context()
open_clients: list[httpx.Client] = []


def new_client() -> httpx.Client:
    open_clients.append(httpx.Client(verify=_TLS, timeout=30))
    return open_clients[-1]


def close_browsers() -> None:
    """Close every browser that a test opened."""
    while open_clients:
        open_clients.pop().close()


@cache
def hash_of_the_password() -> str:
    """A hash takes longer than the rest of a test's preparations."""
    return passwords.hash_password(PASSWORD)


def new_secret() -> str:
    return secrets.token_urlsafe(32)


def s256(verifier: str) -> str:
    """The PKCE challenge of a verifier (RFC 7636 section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def query_of(address: str) -> dict[str, str]:
    """Return the parameters in the query or the fragment of an address."""
    parts = urlsplit(address)
    return {name: values[0] for name, values in parse_qs(parts.query or parts.fragment).items()}


@dataclass(frozen=True)
class World:
    """A tenant, by the address it is served at."""

    tenant: Tenant
    address: str

    @property
    def issuer(self) -> str:
        return self.address

    def at(self, server: str) -> "World":
        """Return the same tenant at another server."""
        return World(self.tenant, f"{server}/t/{self.tenant.slug}")

    def active(self) -> Any:
        """Work inside this tenant: ``with acme.active(): …``."""
        return tenancy.using(self.tenant.to_active())

    def user(self, username: str = "", **fields: Any) -> User:
        if not {"password", "password_hash"} & fields.keys():
            fields["password_hash"] = hash_of_the_password()
        with self.active():
            return users.create(username=username or f"u-{secrets.token_hex(4)}", **fields)

    def application(self, type: str = "Traditional", **fields: Any) -> "RelyingParty":  # noqa: A002
        fields.setdefault("name", "Test application")
        if type != "MachineToMachine":
            fields.setdefault("redirect_uris", [CALLBACK])
        with self.active():
            application, secret = applications.register(type=type, **fields)
        return RelyingParty(self, application, secret)

    def browser(self) -> "Browser":
        return Browser(self)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(f"{self.address}{path}", verify=_TLS, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        return httpx.post(f"{self.address}{path}", verify=_TLS, **options)


def new_world(name: str = "Acme") -> World:
    slug = f"{name.lower()}-{secrets.token_hex(4)}"
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = tenants.provision(slug=slug, name=name)
    return World(tenant, f"{settings.BASE_URL}/t/{slug}")


def default_world() -> World:
    return World(Tenant.objects.get(pk=tenancy.DEFAULT_ID), settings.BASE_URL)


@dataclass
class Browser:
    """The browser of a user. It keeps cookies, and does not follow redirects by itself."""

    world: World
    http: httpx.Client = field(default_factory=new_client)

    def get(self, address: str, **options: Any) -> httpx.Response:
        return self.http.get(self._whole(address), **options)

    def post(self, address: str, **options: Any) -> httpx.Response:
        return self.http.post(self._whole(address), **options)

    def _whole(self, address: str) -> str:
        """Addresses in answers are absolute paths; paths of the interface begin below the tenant."""
        if address.startswith("http"):
            return address
        if address.startswith("/t/"):
            return f"{self.world.address.partition('/t/')[0]}{address}"
        return f"{self.world.address}{address}"

    def sign_in(self, user: User, password: str = PASSWORD, **fields: str) -> httpx.Response:
        """Sign in through the interaction API."""
        return self.post(
            "/api/interaction/sign-in",
            json={"identifier": user.username, "password": password} | fields,
        )

    def authorize(self, client: "RelyingParty", **parameters: str | None) -> httpx.Response:
        return self.get("/oidc/authorize", params=client.request(**parameters))

    def code_for(self, client: "RelyingParty", user: User, **parameters: str | None) -> str:
        """Sign in for an application and return the code that it is sent."""
        answer = self.authorize(client, **parameters)
        if "interaction=" in answer.headers["Location"]:
            interaction = query_of(answer.headers["Location"])["interaction"]
            signed_in = self.sign_in(user, interaction=interaction)
            assert signed_in.status_code == 200, signed_in.text
            answer = self.get(signed_in.json()["result"]["redirect_to"])
        return query_of(answer.headers["Location"])["code"]


def signed_in(world: World, **fields: Any) -> tuple[Browser, User]:
    """Open a browser in which a new user is signed in."""
    user, browser = world.user(**fields), world.browser()
    assert browser.sign_in(user).status_code == 200
    return browser, user


@dataclass
class RelyingParty:
    """An application of the tenant, with its credentials."""

    world: World
    application: Application
    secret: str
    verifier: str = field(default_factory=new_secret)

    @property
    def client_id(self) -> str:
        return self.application.client_id

    @property
    def basic(self) -> tuple[str, str]:
        return self.client_id, self.secret

    def request(self, **changes: str | None) -> dict[str, str]:
        """The parameters of an authorization request; a change to None leaves one out."""
        parameters: dict[str, str | None] = {
            "client_id": self.client_id,
            "redirect_uri": self.application.redirect_uris[0] if self.application.redirect_uris else None,
            "response_type": "code",
            "scope": "openid profile email phone offline_access",
            "state": "af0ifjsldkj",
            "nonce": "n-0S6_WzA2Mj",
            "code_challenge": s256(self.verifier),
            "code_challenge_method": "S256",
        }
        return {name: value for name, value in (parameters | changes).items() if value is not None}

    def token(self, *, auth: Any = "basic", **form: str | None) -> httpx.Response:
        """POST to the token endpoint, with Basic authentication unless told otherwise."""
        sent = {name: value for name, value in form.items() if value is not None}
        return self.world.post("/oidc/token", data=sent, auth=self.basic if auth == "basic" else auth)

    def redeem(self, code: str, **changes: str | None) -> httpx.Response:
        form: dict[str, str | None] = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.application.redirect_uris[0],
            "code_verifier": self.verifier,
        }
        return self.token(**(form | changes))

    def refresh(self, refresh_token: str, **changes: Any) -> httpx.Response:
        return self.token(**({"grant_type": "refresh_token", "refresh_token": refresh_token} | changes))

    def tokens_for(
        self, user: User, browser: Browser | None = None, **parameters: str | None
    ) -> dict[str, Any]:
        """Sign a user in from start to end and return the token answer."""
        code = (browser or self.world.browser()).code_for(self, user, **parameters)
        answer = self.redeem(code)
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def userinfo(self, access_token: str) -> httpx.Response:
        return self.world.get("/oidc/userinfo", headers={"Authorization": f"Bearer {access_token}"})
