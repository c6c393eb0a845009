"""What every client of the load has: the seed data, and a sign-in with PKCE.

A client yields the bytes of a request and is sent the answer. ``prepare`` runs once and is not
measured; ``step`` is repeated and measured. The clients of each row are in ``workloads.py``.
"""

import base64
import hashlib
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from bench.wire import Answer, UnexpectedAnswer, get, post_form, send_json

Steps = Generator[bytes, Answer, None]

_SEE_OTHER: Final = 303
OK: Final = 200


@dataclass(frozen=True, slots=True)
class Interface:
    """The paths of a provider and the parameters it needs. The defaults are those of Gatehouse."""

    authorize: str = "/oidc/authorize"
    sign_in: str = "/api/interaction/sign-in"
    token: str = "/oidc/token"  # noqa: S105 - a path
    userinfo: str = "/oidc/userinfo"
    jwks: str = "/.well-known/jwks.json"
    discovery: str = "/.well-known/openid-configuration"
    resource: str = ""  # RFC 8707, for providers that issue JWT access tokens only for a named resource
    resource_rs256: str = "https://rs256.example"  # its access tokens are signed with RS256
    prompt: str = ""  # for providers that drop offline_access without a prompt


@dataclass(frozen=True, slots=True)
class SeedData:
    """What clients need to know of the seeded installation."""

    prefix: str
    issuer: str
    machine: tuple[str, str]
    web: tuple[str, str]
    redirect_uri: str
    usernames: list[str]
    password: str
    web_rs256: tuple[str, str] = ("", "")  # its ID tokens are signed with RS256
    requests: tuple[str, ...] = ()  # complete requests, for clients that repeat them
    passkeys: dict[str, Any] = field(default_factory=dict)  # what differs in the tenant with passkeys
    interface: Interface = Interface()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "SeedData":
        return cls(**data | {"interface": Interface(**data.get("interface", {}))})

    @property
    def api_parameters(self) -> dict[str, str]:
        """The parameters that request an access token for the API."""
        return {"resource": self.interface.resource} if self.interface.resource else {}

    @property
    def rs256_parameters(self) -> dict[str, str]:
        """The parameters that request an access token that is signed with RS256."""
        return {"resource": self.interface.resource_rs256}

    @property
    def offline_parameters(self) -> dict[str, str]:
        """The parameters that request a refresh token, and an access token for the API."""
        return self.api_parameters | ({"prompt": self.interface.prompt} if self.interface.prompt else {})


def basic(credentials: tuple[str, str]) -> str:
    """Return the Authorization header of HTTP Basic authentication."""
    return f"Basic {base64.b64encode(':'.join(credentials).encode()).decode()}"


class Client(ABC):
    """The work of one keep-alive connection."""

    has_new_connections = False  # each step is another browser, with a connection of its own
    outcome = "200"  # of the last step; a client that accepts several outcomes sets it

    def __init__(self, data: SeedData, number: int, count: int) -> None:
        self.data = data
        self.interface = data.interface
        self.usernames = data.usernames[number::count]  # no two clients share a user
        self.turn = 0

    def prepare(self) -> Steps:
        """Do the work that is not measured."""
        yield from ()

    @abstractmethod
    def step(self) -> Steps:
        """Do the work that is measured, once."""

    @property
    def web(self) -> tuple[str, str]:
        """The application that signs users in."""
        return self.data.web

    def path(self, path: str) -> str:
        """Return a path of the interface with the tenant's prefix."""
        return f"{self.data.prefix}{path}"

    def post_token(self, client: tuple[str, str], **form: str) -> bytes:
        """Return a request to the token endpoint."""
        return post_form(self.path(self.interface.token), form, Authorization=basic(client))

    def sign_in(self, scope: str, **parameters: str) -> Generator[bytes, Answer, dict[str, str]]:
        """Sign a user in with a browser that has no cookies yet, and return the tokens."""
        data = self.data
        verifier, state = secrets.token_urlsafe(32), secrets.token_urlsafe(8)
        self.turn += 1
        query = self._authorization_query(scope, verifier, state, parameters)
        answer = yield get(f"{self.path(self.interface.authorize)}?{query}")
        answer.require(_SEE_OTHER)
        cookies = answer.cookies
        answer = yield from self.authenticate(_parameter(answer.location, "interaction"), cookies)
        answer = yield get(json.loads(answer.body)["result"]["redirect_to"], Cookie="; ".join(cookies))
        answer.require(_SEE_OTHER)
        if _parameter(answer.location, "state") != state:
            raise UnexpectedAnswer(f"redirected to {answer.location}")
        answer = yield self.post_token(
            self.web,
            grant_type="authorization_code",
            code=_parameter(answer.location, "code"),
            redirect_uri=data.redirect_uri,
            code_verifier=verifier,
        )
        answer.require(OK, b'"id_token"')
        tokens: dict[str, str] = json.loads(answer.body)
        return tokens

    def authenticate(self, interaction: str, cookies: list[str]) -> Generator[bytes, Answer, Answer]:
        """Sign in with a password, add the cookies of the answer to ``cookies``, and return the answer."""
        form = {
            "identifier": self.usernames[self.turn % len(self.usernames)],
            "password": self.data.password,
            "interaction": interaction,
        }
        answer = yield from self.post(self.interface.sign_in, form, cookies)
        answer.require(OK, b"redirect_to")
        return answer

    def post(
        self, path: str, document: dict[str, Any], cookies: list[str]
    ) -> Generator[bytes, Answer, Answer]:
        """Send JSON with cookies, add the cookies of the answer to ``cookies``, and return the answer."""
        body = json.dumps({name: value for name, value in document.items() if value}).encode()
        answer = yield send_json("POST", self.path(path), body, Cookie="; ".join(cookies))
        cookies += answer.cookies
        return answer

    def _authorization_query(self, scope: str, verifier: str, state: str, parameters: dict[str, str]) -> str:
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "client_id": self.web[0],
            "redirect_uri": self.data.redirect_uri,
            "response_type": "code",
            "scope": scope,
            "state": state,
            "nonce": state,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        return urlencode(query | parameters, quote_via=quote)


def _parameter(address: str, name: str) -> str:
    values = parse_qs(urlsplit(address).query).get(name)
    if not values:
        raise UnexpectedAnswer(f"redirected to {address}")
    return values[0]
