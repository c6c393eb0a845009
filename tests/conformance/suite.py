"""The suite as a provider sees it: a relying party that looks at everything."""

import json
import secrets
import string
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import httpx

from tests.conformance import checks
from tests.conformance.agents import Agent, Stop
from tests.conformance.clock import Clock
from tests.conformance.verdict import Verdict

_STATE_CHARACTERS: Final = string.ascii_letters + string.digits + "-._~"


def new_state() -> str:
    """128 characters that have to come back as they are."""
    return "".join(secrets.choice(_STATE_CHARACTERS) for _ in range(128))


@dataclass(frozen=True)
class Client:
    """A client of the configuration, and how it authenticates."""

    client_id: str
    client_secret: str
    in_body: bool = False

    def authenticated(self, form: dict[str, str]) -> dict[str, Any]:
        """Return what a token request is sent with."""
        if self.in_body:
            return {"data": form | {"client_id": self.client_id, "client_secret": self.client_secret}}
        return {"data": form, "auth": (self.client_id, self.client_secret)}


@dataclass(frozen=True)
class Login:
    """What a client holds after a sign-in that went well."""

    claims: dict[str, Any]
    tokens: dict[str, Any]
    userinfo: dict[str, Any]
    code: str
    client: Client
    moved: int

    @property
    def hint(self) -> str:
        return str(self.tokens["id_token"])


@dataclass
class Suite:
    """One module at work, with what its configuration says."""

    config: dict[str, Any]
    base: str
    verdict: Verdict
    agent: Agent
    http: httpx.Client
    response_mode: str | None = None
    clock: Clock = field(default_factory=Clock)
    discovery: dict[str, Any] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)

    def start(self) -> None:
        """Read discovery document and key set, as every module begins."""
        answer = self.http.get(self.config["server"]["discoveryUrl"])
        self.verdict.must(is_json(answer, 200), "there is no discovery document")
        self.discovery = answer.json()
        for name in ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"):
            self.verdict.must(self.discovery.get(name), f"discovery has no {name}")
        published = self.http.get(self.discovery["jwks_uri"])
        self.verdict.must(published.status_code == 200, "there is no key set")
        self.keys = published.json()
        checks.key_set(self.keys, self.verdict)

    @property
    def issuer(self) -> str:
        return str(self.discovery["issuer"])

    @property
    def callback(self) -> str:
        return f"{self.base}/test/a/{self.config['alias']}/callback"

    @property
    def farewell(self) -> str:
        return f"{self.base}/test/a/{self.config['alias']}/post_logout_redirect"

    def client(self, block: str = "client") -> Client:
        said = self.config[block]
        return Client(said["client_id"], said["client_secret"], in_body=block == "client_secret_post")

    def request(self, client: Client, **changes: str | None) -> dict[str, str]:
        """Return an authorization request; a change to None leaves a parameter out."""
        usual: dict[str, str | None] = {
            "client_id": client.client_id,
            "redirect_uri": self.callback,
            "scope": "openid",
            "state": new_state(),
            "nonce": secrets.token_urlsafe(32),
            "response_type": "code",
            "response_mode": self.response_mode,
        }
        return {name: value for name, value in (usual | changes).items() if value is not None}

    def ask(self, request: dict[str, str], *, posted: bool = False) -> Stop:
        """Take the browser to the authorization endpoint and through the pages there."""
        endpoint = self.discovery["authorization_endpoint"]
        if posted:
            return self.agent.visit(endpoint, request)
        return self.agent.visit(f"{endpoint}?{urlencode(request)}")

    def answer(self, stop: Stop, request: dict[str, str]) -> dict[str, str]:
        """Return what came back to the redirect URI: state as it was sent, and the issuer if any."""
        address, _, query = stop.address.partition("?")
        self.verdict.must(address == self.callback, f"the browser is at {stop.address}: {stop.heading}")
        self.verdict.must("#" not in query, "the answer is in the fragment")
        is_posted = request.get("response_mode") == "form_post"
        self.verdict.must((stop.posted is not None) == is_posted, "the answer came in another response mode")
        pairs = list((stop.posted or {}).items()) if is_posted else parse_qsl(query, True, True)
        said = dict(pairs)
        self.verdict.must(len(said) == len(pairs), f"a parameter came twice: {query}")
        self.verdict.must(said.get("state") == request.get("state"), f"state is {said.get('state')}")
        announced = self.discovery.get("authorization_response_iss_parameter_supported")
        self.verdict.must(said.get("iss", None if announced else self.issuer) == self.issuer, "iss is wrong")
        return said

    def code(self, stop: Stop, request: dict[str, str]) -> str:
        """Return the code of an answer, which nobody guesses."""
        said = self.answer(stop, request)
        self.verdict.must("error" not in said, f"there is an error: {said}")
        checks.unguessable(said.get("code"), "code", self.verdict)
        strangers = said.keys() - {"code", "state", "iss", "session_state"}
        self.verdict.should(not strangers, f"the answer has {', '.join(strangers)}")
        return said["code"]

    def refusal(self, stop: Stop, request: dict[str, str], *errors: str) -> None:
        """Hold an answer to be one of these errors, with nothing in it that does not belong there."""
        said = self.answer(stop, request)
        self.verdict.must("code" not in said, "a code came with the error")
        self.verdict.must(said.get("error") in errors, f"error is {said.get('error')}")
        strangers = said.keys() - {"error", "error_description", "error_uri", "state", "iss", "session_state"}
        self.verdict.should(not strangers, f"the error has {', '.join(strangers)}")

    def login(
        self, client: Client | None = None, *, posted: bool = False, verifier: str = "", **changes: Any
    ) -> Login:
        """Sign in and hold everything that comes of it to what is asked of every success."""
        client = client or self.client()
        request = self.request(client, **changes)
        code = self.code(self.ask(request, posted=posted), request)
        return self.redeemed(client, code, request, verifier=verifier)

    def redeem(self, client: Client, code: str, *, verifier: str = "") -> httpx.Response:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.callback}
        return self.token(client, form | ({"code_verifier": verifier} if verifier else {}))

    def token(self, client: Client, form: dict[str, str]) -> httpx.Response:
        return self.http.post(self.discovery["token_endpoint"], **client.authenticated(form))

    def redeemed(self, client: Client, code: str, request: dict[str, str], *, verifier: str = "") -> Login:
        """Redeem a code, check the tokens, and ask who signed in."""
        tokens = self.tokens(self.redeem(client, code, verifier=verifier))
        claims = self.claims(tokens, client, request.get("nonce"))
        userinfo = self.userinfo(tokens["access_token"])
        self.verdict.must(userinfo["sub"] == claims["sub"], "userinfo speaks of somebody else")
        return Login(claims, tokens, userinfo, code, client, self.clock.moved)

    def then(self, login: Login, name: str) -> int:
        """Return a time of an earlier ID token, as it is seen from now."""
        return int(login.claims.get(name, 0)) - (self.clock.moved - login.moved)

    def tokens(self, answer: httpx.Response) -> dict[str, Any]:
        """Return a token answer as RFC 6749 section 5.1 has it."""
        self.verdict.must(
            is_json(answer, 200), f"the token endpoint says {answer.status_code}: {answer.text}"
        )
        self.verdict.must("no-store" in answer.headers.get("Cache-Control", ""), "tokens may be cached")
        tokens: dict[str, Any] = answer.json()
        self.verdict.must(isinstance(tokens.get("access_token"), str), "there is no access token")
        checks.unguessable(tokens["access_token"], "access token", self.verdict)
        self.verdict.must(str(tokens.get("token_type")).lower() == "bearer", "token_type is not Bearer")
        self.verdict.should("expires_in" in tokens, "expires_in is missing")
        lifetime = tokens.get("expires_in", 1)
        self.verdict.must(type(lifetime) is int and 0 < lifetime < checks.FIFTY_YEARS, "expires_in is wrong")
        self.verdict.must(isinstance(tokens.get("id_token"), str), "there is no ID token")
        return tokens

    def claims(self, tokens: dict[str, Any], client: Client, nonce: str | None) -> dict[str, Any]:
        """Return what the ID token says, once it is known to be good."""
        claims = checks.verified(tokens["id_token"], self.keys, self.verdict)
        checks.id_token(
            claims,
            issuer=self.issuer,
            client_id=client.client_id,
            nonce=nonce,
            access_token=tokens["access_token"],
            verdict=self.verdict,
        )
        return claims

    def userinfo(self, token: str, method: str = "GET", **options: Any) -> dict[str, Any]:
        """Return what the UserInfo endpoint says, well typed."""
        options = options or {"headers": {"Authorization": f"Bearer {token}"}}
        answer = self.http.request(method, self.discovery["userinfo_endpoint"], **options)
        self.verdict.must(is_json(answer, 200), f"userinfo says {answer.status_code}: {answer.text}")
        said: dict[str, Any] = answer.json()
        self.verdict.must(isinstance(said.get("sub"), str), "userinfo has no sub")
        checks.standard(said, self.verdict)
        return said

    def token_error(self, answer: httpx.Response, error: str) -> None:
        """Hold a token answer to be this error, in the words that RFC 6749 section 5.2 allows."""
        self.verdict.must(is_json(answer, 400), f"the token endpoint says {answer.status_code}")
        said = answer.json()
        self.verdict.must(said.get("error") == error, f"error is {said.get('error')}")
        described = said.get("error_description", "")
        self.verdict.must(not set("\r\n\t") & set(described), "the description has more than one line")

    def error_page(self, stop: Stop) -> None:
        """Hold the browser to have stayed with the provider, at a page that tells of an error."""
        self.verdict.must(not stop.address.startswith(self.base), f"redirected to {stop.address}")
        self.verdict.must(400 <= stop.status < 500 and stop.heading, f"no error page: {stop.status}")
        self.pictured()

    def pictured(self) -> None:
        """Note the page that the suite was shown last."""
        self.verdict.must(self.agent.pictures, "no picture was asked for")
        self.verdict.picture(self.agent.pictures[-1])

    def signs_in_silently(self) -> bool:
        """Ask without pages whether somebody is signed in."""
        request = self.request(self.client(), prompt="none")
        stop = self.ask(request)
        said = self.answer(stop, request)
        self.verdict.must("code" in said or said.get("error") == "login_required", f"said {json.dumps(said)}")
        return "code" in said


def is_json(answer: httpx.Response, status: int) -> bool:
    """Tell whether an answer has this status and is JSON by its own account."""
    kind = answer.headers.get("Content-Type", "").partition(";")[0].strip()
    return answer.status_code == status and kind == "application/json"
