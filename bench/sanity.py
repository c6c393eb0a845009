"""Checks that a provider must pass before it is measured: signatures, rotation, replay of refresh tokens."""

import json
from collections.abc import Generator
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from bench.clients import OK, Client, SeedData, Steps
from bench.connection import Connection
from bench.servers import Target
from bench.wire import Answer, UnexpectedAnswer, get

_BAD_REQUEST = 400


class SanityCheck(Client):
    """A client that verifies every answer, once."""

    def prepare(self) -> Steps:
        """Request tokens with each grant, verify them, and replay a refresh token.

        Raises:
            UnexpectedAnswer: one check failed.

        """
        answer = yield get(self.path(self.interface.jwks))
        self.keys = KeySet.import_key_set(json.loads(answer.body))
        answer = yield self.post_token(
            self.data.machine, grant_type="client_credentials", **self.data.api_parameters
        )
        self._verify(json.loads(answer.body)["access_token"])
        answer = yield self.post_token(
            self.data.machine, grant_type="client_credentials", **self.data.rs256_parameters
        )
        self._verify(json.loads(answer.body)["access_token"], "RS256")
        tokens = yield from self.sign_in("openid profile offline_access", **self.data.offline_parameters)
        self._verify(tokens["access_token"])
        if self._verify(tokens["id_token"])["aud"] not in (self.data.web[0], [self.data.web[0]]):
            raise UnexpectedAnswer("the ID token is for another client")
        yield from self._check_rotation(tokens["refresh_token"])

    def step(self) -> Steps:
        """Do nothing: this client is not measured."""
        yield from ()

    def _check_rotation(self, first: str) -> Steps:
        tokens = [first]
        for _ in range(2):
            answer = yield from self._refresh(tokens[-1])
            answer.require(OK, b'"refresh_token"')
            tokens.append(json.loads(answer.body)["refresh_token"])
        for token in (first, tokens[-1]):  # replaying the first token revokes the whole family
            answer = yield from self._refresh(token)
            answer.require(_BAD_REQUEST, b"invalid_grant")

    def _refresh(self, token: str) -> Generator[bytes, Answer, Answer]:
        return (yield self.post_token(self.data.web, grant_type="refresh_token", refresh_token=token))

    def _verify(self, token: str, algorithm: str = "ES256") -> dict[str, Any]:
        try:
            claims = jwt.decode(token, self.keys, algorithms=[algorithm]).claims
        except (JoseError, ValueError) as error:
            raise UnexpectedAnswer(f"a token that does not verify: {error}") from None
        if claims["iss"] != self.data.issuer:
            raise UnexpectedAnswer(f"a token of {claims['iss']}")
        return claims


def check(target: Target) -> None:
    """Run all checks.

    Raises:
        UnexpectedAnswer: one failed.

    """
    Connection(target.server.port, SanityCheck(SeedData.from_json(target.data), 0, 1)).prepare()
