"""What every provider does right before it is measured: it signs, rotates, and sees a token twice."""

import json
from collections.abc import Generator
from typing import Any

from clients import Client, Steps, World, basic
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from load import Connection
from wire import Answer, Wrong, get, post_form

_OK = 200
_BAD_REQUEST = 400


class Proof(Client):
    """A client that looks closely, once."""

    def prepare(self) -> Steps:
        """Ask for tokens in both ways, check them, and use a refresh token again.

        Raises:
            Wrong: something of this is not as it should be.

        """
        answer = yield get(self.at(self.world.interface.jwks))
        self.keys = KeySet.import_key_set(json.loads(answer.body))
        machine = yield from self._token(
            self.world.machine, grant_type="client_credentials", **self.world.for_api
        )
        self._claims(json.loads(machine.body)["access_token"])
        tokens = yield from self.sign_in("openid profile offline_access", **self.world.offline)
        self._claims(tokens["access_token"])
        if self._claims(tokens["id_token"])["aud"] not in (self.world.web[0], [self.world.web[0]]):
            raise Wrong("the ID token is for another client")
        yield from self._rotation(tokens["refresh_token"])

    def step(self) -> Steps:
        """Nothing is measured."""
        yield from ()

    def _rotation(self, first: str) -> Steps:
        tokens = [first]
        for _ in range(2):
            answer = yield from self._refreshed(tokens[-1])
            answer.require(_OK, b'"refresh_token"')
            tokens.append(json.loads(answer.body)["refresh_token"])
        for used in (first, tokens[-1]):  # the first again, and then nobody of the family may go on
            answer = yield from self._refreshed(used)
            answer.require(_BAD_REQUEST, b"invalid_grant")

    def _refreshed(self, token: str) -> Generator[bytes, Answer, Answer]:
        return (yield from self._token(self.world.web, grant_type="refresh_token", refresh_token=token))

    def _token(self, client: tuple[str, str], **form: str) -> Generator[bytes, Answer, Answer]:
        return (yield post_form(self.at(self.world.interface.token), form, Authorization=basic(client)))

    def _claims(self, token: str) -> dict[str, Any]:
        try:
            claims = jwt.decode(token, self.keys, algorithms=["ES256"]).claims
        except (JoseError, ValueError) as error:
            raise Wrong(f"a token that does not verify: {error}") from None
        if claims["iss"] != self.world.issuer:
            raise Wrong(f"a token of {claims['iss']}")
        return claims


def prove(port: int, world: dict[str, Any]) -> None:
    """Make sure that a server does what is measured.

    Raises:
        Wrong: it does not.

    """
    Connection(port, Proof(World.of(world), 0, 1)).prepare()
