"""The clients of each row."""

import json
import secrets
from collections.abc import Generator
from dataclasses import replace
from typing import Final

from bench.clients import OK, Client, SeedData, Steps
from bench.wire import Answer, UnexpectedAnswer, get, send_json
from tests.support.passkey_device import Device

_UNAVAILABLE: Final = 503
_OFFLINE: Final = "openid profile offline_access"


class Repeat(Client):
    """Sends one request again and again; subclasses build it in ``prepare``."""

    expected = b""
    request: bytes

    def step(self) -> Steps:
        answer = yield self.request
        answer.require(OK, self.expected)


class ClientCredentials(Repeat):
    """An application requests a token for itself."""

    expected = b'"access_token"'

    def prepare(self) -> Steps:
        self.request = self.post_token(
            self.data.machine, grant_type="client_credentials", **self.data.api_parameters
        )
        yield from ()


class ClientCredentialsRs256(Repeat):
    """An application requests a token for an API whose tokens are signed with RS256."""

    expected = b'"access_token"'

    def prepare(self) -> Steps:
        self.request = self.post_token(
            self.data.machine, grant_type="client_credentials", **self.data.rs256_parameters
        )
        yield from ()


class Refresh(Client):
    """An application refreshes with the refresh token of the last answer."""

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of each refresh."""
        return {}

    def prepare(self) -> Steps:
        tokens = yield from self.sign_in(_OFFLINE, **self.data.offline_parameters | self.parameters)
        self.token = tokens["refresh_token"]

    def step(self) -> Steps:
        """Refresh; the answer must contain a new refresh token and an ID token."""
        answer = yield self.post_token(
            self.web, grant_type="refresh_token", refresh_token=self.token, **self.parameters
        )
        answer.require(OK, b'"id_token"')
        token = json.loads(answer.body)["refresh_token"]
        if token == self.token:
            raise UnexpectedAnswer("the refresh token did not rotate")
        self.token = token


class RefreshRs256(Refresh):
    """The same with an access token and an ID token that are signed with RS256."""

    @property
    def web(self) -> tuple[str, str]:
        return self.data.web_rs256

    @property
    def parameters(self) -> dict[str, str]:
        return self.data.rs256_parameters


class Userinfo(Repeat):
    """An application requests the claims of the user who signed in."""

    expected = b'"email"'

    def prepare(self) -> Steps:
        tokens = yield from self.sign_in("openid profile email")
        path = self.path(self.interface.userinfo)
        self.request = get(path, Authorization=f"Bearer {tokens['access_token']}")


class SessionContext(Repeat):
    """An application requests the user's tenant, organizations and sign-in state."""

    expected = b'"organizations"'

    def prepare(self) -> Steps:
        tokens = yield from self.sign_in("openid profile")
        path = self.path("/api/session/context")
        self.request = get(path, Authorization=f"Bearer {tokens['access_token']}")


class Jwks(Repeat):
    """A resource server fetches the public keys, without an ETag."""

    expected = b'"kid"'

    def prepare(self) -> Steps:
        self.request = get(self.path(self.interface.jwks))
        yield from ()


class Discovery(Repeat):
    """An application fetches the discovery document, without an ETag."""

    expected = b'"issuer"'

    def prepare(self) -> Steps:
        self.request = get(self.path(self.interface.discovery))
        yield from ()


class Baseline(Repeat):
    """A client fetches an empty object from the application that does nothing."""

    expected = b"{}"

    def prepare(self) -> Steps:
        self.request = get("/")
        yield from ()


class Login(Client):
    """A user signs in: four requests, one step."""

    has_new_connections = True

    def step(self) -> Steps:
        """Authorize, sign in, return to authorize, redeem the code."""
        yield from self.sign_in(_OFFLINE, **self.data.offline_parameters)


class PasskeySignIn(Login):
    """A user signs in with a passkey alone: five requests, one step. Each client has a user and a device."""

    _OPTIONS: Final = "/api/interaction/passkey/options"
    _VERIFY: Final = "/api/interaction/passkey/verify"

    def __init__(self, data: SeedData, number: int, count: int) -> None:
        super().__init__(replace(data, **data.passkeys), number, count)
        self.device = Device(self.data.issuer.removesuffix(self.data.prefix))

    def prepare(self) -> Steps:
        """Sign in with the password and create the passkey."""
        cookies: list[str] = []
        yield from super().authenticate("", cookies)
        options = yield from self._begin("set_up", "", cookies)
        body = {"ceremony": "set_up", "credential": self.device.create(options)}
        answer = yield from self.post(self._VERIFY, body, cookies)
        answer.require(OK, b"redirect_to")

    def authenticate(self, interaction: str, cookies: list[str]) -> Generator[bytes, Answer, Answer]:
        """Sign in with the passkey and return the answer."""
        options = yield from self._begin("sign_in", interaction, cookies)
        credential = self.device.get(options)
        body = {"ceremony": "sign_in", "credential": credential, "interaction": interaction}
        answer = yield from self.post(self._VERIFY, body, cookies)
        answer.require(OK, b"redirect_to")
        return answer

    def _begin(
        self, ceremony: str, interaction: str, cookies: list[str]
    ) -> Generator[bytes, Answer, dict[str, object]]:
        """Return the options of a ceremony."""
        body = {"ceremony": ceremony, "interaction": interaction}
        answer = yield from self.post(self._OPTIONS, body, cookies)
        answer.require(OK, b"public_key")
        options: dict[str, object] = json.loads(answer.body)["result"]["public_key"]
        return options


class SignIn(Client):
    """A user signs in without an application. A 503 with Retry-After is a correct answer, too."""

    has_new_connections = True

    def step(self) -> Steps:
        # There may be more of these clients than users.
        form = {"identifier": secrets.choice(self.data.usernames), "password": self.data.password}
        answer = yield send_json("POST", self.path(self.interface.sign_in), json.dumps(form).encode())
        is_busy = answer.status == _UNAVAILABLE and b"\r\nretry-after:" in answer.head.lower()
        if not is_busy:
            answer.require(OK, b"redirect_to")
        self.outcome = "503 with Retry-After" if is_busy else "200"


class Replay(Client):
    """An administrator or an application sends prepared requests in turn."""

    def prepare(self) -> Steps:
        """Start at another request than the other clients."""
        self.requests = [request.encode() for request in self.data.requests]
        self.turn = hash(self.usernames[0]) if self.usernames else 0
        yield from ()

    def step(self) -> Steps:
        self.turn += 1
        answer = yield self.requests[self.turn % len(self.requests)]
        answer.require(OK, b'"code":0')


WORKLOADS: Final[dict[str, type[Client]]] = {
    "client-credentials": ClientCredentials,
    "refresh": Refresh,
    "client-credentials-rs256": ClientCredentialsRs256,
    "refresh-rs256": RefreshRs256,
    "userinfo": Userinfo,
    "jwks": Jwks,
    "discovery": Discovery,
    "login": Login,
    "passkey-sign-in": PasskeySignIn,
    "sign-in": SignIn,
    "baseline": Baseline,
    "replay": Replay,
    "session-context": SessionContext,
}
