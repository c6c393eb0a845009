"""What the clients of each row do: one class a row.

A client yields the bytes of a request and is sent the answer. ``prepare`` runs once and is
not measured; ``step`` is what is counted, again and again.
"""

import base64
import hashlib
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from wire import Answer, Wrong, get, post_form, post_json

Steps = Generator[bytes, Answer, None]

_FOUND: Final = 303
_OK: Final = 200
_BUSY: Final = 503


@dataclass(frozen=True, slots=True)
class Interface:
    """Where a provider has what clients ask for, and what it has to be told. Ours, unless said otherwise."""

    authorize: str = "/oidc/authorize"
    sign_in: str = "/api/interaction/sign-in"
    token: str = "/oidc/token"  # noqa: S105 - a path
    userinfo: str = "/oidc/userinfo"
    jwks: str = "/.well-known/jwks.json"
    discovery: str = "/.well-known/openid-configuration"
    resource: str = ""  # of RFC 8707, for those whose access token is a JWT only when it is named
    prompt: str = ""  # for those who drop offline_access without one


@dataclass(frozen=True, slots=True)
class World:
    """What was seeded, as a client has to know it."""

    prefix: str
    issuer: str
    machine: tuple[str, str]
    web: tuple[str, str]
    redirect_uri: str
    usernames: list[str]
    password: str
    given: tuple[str, ...] = ()  # whole requests, for clients that think up none
    interface: Interface = Interface()

    @classmethod
    def of(cls, told: dict[str, Any]) -> "World":
        """Make a world of what came as JSON."""
        return cls(**told | {"interface": Interface(**told.get("interface", {}))})

    @property
    def for_api(self) -> dict[str, str]:
        """The parameters that make an access token one for the API."""
        return {"resource": self.interface.resource} if self.interface.resource else {}

    @property
    def offline(self) -> dict[str, str]:
        """The parameters that ask for a refresh token, and an access token for the API."""
        return self.for_api | ({"prompt": self.interface.prompt} if self.interface.prompt else {})


def basic(credentials: tuple[str, str]) -> str:
    """Return what goes into Authorization."""
    return f"Basic {base64.b64encode(':'.join(credentials).encode()).decode()}"


class Client(ABC):
    """One keep-alive connection's worth of work."""

    is_somebody_new = False  # at each step, who hence comes with a connection of their own
    came_to = "200"  # what the last step came to, where more than one thing is right

    def __init__(self, world: World, number: int, count: int) -> None:
        self.world = world
        # Clients never share a person.
        self.usernames = world.usernames[number::count]
        self.turn = 0

    def prepare(self) -> Steps:
        """Do what comes before, unmeasured."""
        yield from ()

    @abstractmethod
    def step(self) -> Steps:
        """Do what is measured, once."""

    def at(self, path: str) -> str:
        """Return where the provider has a path of its interface."""
        return f"{self.world.prefix}{path}"

    def sign_in(self, scope: str, **more: str) -> Generator[bytes, Answer, dict[str, str]]:
        """Sign a person in with a browser that has no cookies yet, and return the tokens."""
        world = self.world
        verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(8)
        self.turn += 1
        answer = yield get(
            f"{self.at(world.interface.authorize)}?{self._asked(scope, verifier, state, more)}"
        )
        answer.require(_FOUND)
        cookies = answer.cookies
        sent = {
            "identifier": self.usernames[self.turn % len(self.usernames)],
            "password": world.password,
            "interaction": _parameter(answer.location, "interaction"),
        }
        answer = yield post_json(
            self.at(world.interface.sign_in), json.dumps(sent).encode(), Cookie="; ".join(cookies)
        )
        answer.require(_OK, b"redirect_to")
        cookies += answer.cookies
        answer = yield get(json.loads(answer.body)["result"]["redirect_to"], Cookie="; ".join(cookies))
        answer.require(_FOUND)
        if _parameter(answer.location, "state") != state:
            raise Wrong(f"redirected to {answer.location}")
        form = {
            "grant_type": "authorization_code",
            "code": _parameter(answer.location, "code"),
            "redirect_uri": world.redirect_uri,
            "code_verifier": verifier,
        }
        answer = yield post_form(self.at(world.interface.token), form, Authorization=basic(world.web))
        answer.require(_OK, b'"id_token"')
        tokens: dict[str, str] = json.loads(answer.body)
        return tokens

    def _asked(self, scope: str, verifier: str, state: str, more: dict[str, str]) -> str:
        digest = hashlib.sha256(verifier.encode()).digest()
        return urlencode(
            {
                "client_id": self.world.web[0],
                "redirect_uri": self.world.redirect_uri,
                "response_type": "code",
                "scope": scope,
                "state": state,
                "nonce": state,
                "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
                "code_challenge_method": "S256",
            }
            | more,
            quote_via=quote,
        )


def _parameter(address: str, name: str) -> str:
    values = parse_qs(urlsplit(address).query).get(name)
    if not values:
        raise Wrong(f"redirected to {address}")
    return values[0]


class ClientCredentials(Client):
    """An application asks for a token in its own name."""

    def prepare(self) -> Steps:
        """Write the request once; it is always the same."""
        self.request = post_form(
            self.at(self.world.interface.token),
            {"grant_type": "client_credentials"} | self.world.for_api,
            Authorization=basic(self.world.machine),
        )
        yield from ()

    def step(self) -> Steps:
        """Ask."""
        answer = yield self.request
        answer.require(_OK, b'"access_token"')


class Refresh(Client):
    """An application refreshes, always with the token that the last refresh gave it."""

    def prepare(self) -> Steps:
        """Sign in once."""
        tokens = yield from self.sign_in("openid profile offline_access", **self.world.offline)
        self.token = tokens["refresh_token"]

    def step(self) -> Steps:
        """Refresh; the answer must bring another token and an ID token."""
        answer = yield post_form(
            self.at(self.world.interface.token),
            {"grant_type": "refresh_token", "refresh_token": self.token},
            Authorization=basic(self.world.web),
        )
        answer.require(_OK, b'"id_token"')
        token = json.loads(answer.body)["refresh_token"]
        if token == self.token:
            raise Wrong("the refresh token did not rotate")
        self.token = token


class Userinfo(Client):
    """An application asks who signed in."""

    def prepare(self) -> Steps:
        """Sign in once."""
        tokens = yield from self.sign_in("openid profile email")
        self.request = get(
            self.at(self.world.interface.userinfo), Authorization=f"Bearer {tokens['access_token']}"
        )

    def step(self) -> Steps:
        """Ask."""
        answer = yield self.request
        answer.require(_OK, b'"email"')


class Jwks(Client):
    """A resource server fetches the keys, without the ETag it may have."""

    expected = b'"kid"'

    @property
    def path(self) -> str:
        """Where it is."""
        return self.at(self.world.interface.jwks)

    def prepare(self) -> Steps:
        """Write the request once."""
        self.request = get(self.path)
        yield from ()

    def step(self) -> Steps:
        """Fetch."""
        answer = yield self.request
        answer.require(_OK, self.expected)


class Discovery(Jwks):
    """Anybody fetches the discovery document, without the ETag they may have."""

    expected = b'"issuer"'

    @property
    def path(self) -> str:
        """Where it is."""
        return self.at(self.world.interface.discovery)


class Floor(Jwks):
    """Somebody fetches nothing from an application that does nothing."""

    expected = b"{}"

    @property
    def path(self) -> str:
        """Where it is."""
        return "/"


class Login(Client):
    """A person signs in: four requests, one step."""

    is_somebody_new = True

    def step(self) -> Steps:
        """Authorize, sign in, resume, redeem."""
        yield from self.sign_in("openid profile offline_access", **self.world.offline)


class SignIn(Client):
    """A person signs in, on no application's behalf; to be told to come back later is an answer, too."""

    is_somebody_new = True

    def step(self) -> Steps:
        """Send identifier and password."""
        # There may be more of these clients than people.
        identifier = secrets.choice(self.world.usernames)
        sent = {"identifier": identifier, "password": self.world.password}
        answer = yield post_json(self.at(self.world.interface.sign_in), json.dumps(sent).encode())
        is_busy = answer.status == _BUSY and b"\r\nretry-after:" in answer.head.lower()
        if not is_busy:
            answer.require(_OK, b"redirect_to")
        self.came_to = "503 with Retry-After" if is_busy else "200"


class Given(Client):
    """An administrator or an application sends what it was given, one after the other."""

    def prepare(self) -> Steps:
        """Begin somewhere else than the others."""
        self.requests = [request.encode() for request in self.world.given]
        self.turn = hash(self.usernames[0]) if self.usernames else 0
        yield from ()

    def step(self) -> Steps:
        """Send the next."""
        self.turn += 1
        answer = yield self.requests[self.turn % len(self.requests)]
        answer.require(_OK, b'"code":0')


class SessionContext(Client):
    """An application asks where a user is signed in, and what may be entered."""

    def prepare(self) -> Steps:
        """Sign in once."""
        tokens = yield from self.sign_in("openid profile")
        token = tokens["access_token"]
        self.request = get(f"{self.world.prefix}/api/session/context", Authorization=f"Bearer {token}")

    def step(self) -> Steps:
        """Ask."""
        answer = yield self.request
        answer.require(_OK, b'"organizations"')


ROWS: Final[dict[str, type[Client]]] = {
    "client-credentials": ClientCredentials,
    "refresh": Refresh,
    "userinfo": Userinfo,
    "jwks": Jwks,
    "discovery": Discovery,
    "login": Login,
    "sign-in": SignIn,
    "floor": Floor,
    "given": Given,
    "session-context": SessionContext,
}
