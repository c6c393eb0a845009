"""Another OpenID provider, on loopback. A test can make it answer wrongly."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from joserfc import jws
from joserfc.jwk import ECKey

from tests.support import providers
from tests.support.cast import new_secret, query_of, s256
from tests.support.providers import Answer, Asked, WebProvider, answer

CLIENT = {"client_id": "our-id", "client_secret": "our-secret-there"}


@dataclass
class OpenIDProvider:
    """``lie`` changes the claims of ID tokens, ``sign`` how they are signed, ``more`` the token answer."""

    web: WebProvider
    key: ECKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "one"}))
    codes: dict[str, dict[str, Any]] = field(default_factory=dict)
    lie: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] | None = None

    @property
    def issuer(self) -> str:
        return self.web.address

    @property
    def config(self) -> dict[str, str]:
        return CLIENT | {"issuer": self.issuer}

    def publish(self, **discovery: Any) -> None:
        """Serve discovery document, keys, and the token endpoint."""
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
            "response_types_supported": ["code"],
        }
        self.web.answers |= {
            "/.well-known/openid-configuration": answer(200, document | discovery),
            "/jwks": answer(200, {"keys": [self.key.as_dict(private=False)]}),
            "/token": self.token,
        }

    def approve(self, address: str, **person: Any) -> dict[str, str]:
        """Let somebody sign in whose browser was sent here; return what the browser goes back with."""
        assert address.startswith(f"{self.issuer}/authorize?")
        asked = query_of(address)
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT["client_id"])
        assert (asked["code_challenge_method"], asked["scope"]) == ("S256", "openid profile email")
        code = new_secret()
        self.codes[code] = asked | {"person": {"sub": "ada-1"} | person}
        return {"code": code, "state": asked["state"], "iss": self.issuer}

    def token(self, asked: Asked) -> Answer:
        """Redeem a code, once, for who has the verifier and the secret."""
        form = asked.form
        granted = self.codes.pop(form["code"], None)
        if granted is None or s256(form["code_verifier"]) != granted["code_challenge"]:
            return answer(400, {"error": "invalid_grant"})
        assert form["redirect_uri"] == granted["redirect_uri"]
        assert "authorization" in asked.headers
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT["client_id"],
            "iat": now,
            "exp": now + 600,
            "nonce": granted["nonce"],
        }
        claims |= granted["person"] | self.lie
        told = {name: value for name, value in claims.items() if value is not None}
        token = self.sign(told) if self.sign else self.signed(told)
        return answer(200, {"access_token": "theirs", "token_type": "Bearer", "id_token": token} | self.more)

    def signed(self, claims: dict[str, Any], key: Any = None, **header: Any) -> str:
        protected = {"alg": "ES256", "kid": "one"} | header
        return jws.serialize_compact(protected, json.dumps(claims), key or self.key, [protected["alg"]])


def claims_of(token: str) -> dict[str, Any]:
    """Return the claims of a token, without checking its signature."""
    claims: dict[str, Any] = json.loads(jws.extract_compact(token.encode()).payload)
    return claims


@contextmanager
def provider() -> Iterator[OpenIDProvider]:
    with providers.web_provider() as web:
        made = OpenIDProvider(web)
        made.publish()
        yield made
