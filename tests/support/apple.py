"""Sign in with Apple on loopback, as Apple's reference describes it."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from interaction.connectors.providers import apple
from tests.support.cast import new_secret, query_of, s256
from tests.support.providers import Answer, Asked, WebProvider, answer

KEY = ec.generate_private_key(ec.SECP256R1())
SIGNING_KEY = rsa.generate_private_key(65537, 2048)
SUBJECT = "000792.d71059495fa24644b94e4a644e2e3b4a.0638"


def pem(key: Any = KEY, encoding: Any = serialization.PrivateFormat.PKCS8) -> str:
    return str(key.private_bytes(serialization.Encoding.PEM, encoding, serialization.NoEncryption()), "ascii")


CONFIG = {
    "client_id": "com.example.web",
    "team_id": "ABCDE12345",
    "key_id": "KEY1234567",
    "private_key": pem(),
}


@dataclass
class AppleServer:
    """Answers as Apple's reference says. ``claims`` changes the ID token."""

    web: WebProvider
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(SIGNING_KEY.public_key(), as_dict=True)
        old = jwt.algorithms.RSAAlgorithm.to_jwk(
            rsa.generate_private_key(65537, 2048).public_key(), as_dict=True
        )
        keys = [
            key | {"kid": kid, "use": "sig", "alg": "RS256"}
            for kid, key in (("fh6Bs8C", old), ("W6WcOKB", public))
        ]
        self.web.answers |= {"/auth/keys": answer(200, {"keys": keys}), "/auth/token": self.token}

    def approve(self, address: str, user: dict[str, Any] | None = None) -> dict[str, str]:
        """Let somebody sign in; return the form that Apple's page posts."""
        assert address.startswith(f"{self.web.address}/auth/authorize?")
        asked = query_of(address)
        assert (asked["response_type"], asked["response_mode"]) == ("code", "form_post")
        assert (asked["client_id"], asked["scope"]) == (CONFIG["client_id"], "name email")
        code = f"c{new_secret()}.0.rsy.x"
        self.codes[code] = asked
        posted = {"code": code, "state": asked["state"]}
        return posted | ({"user": json.dumps(user)} if user else {})

    def token(self, asked: Asked) -> Answer:
        form = asked.form
        try:
            secret = jwt.decode(
                form["client_secret"], KEY.public_key(), ["ES256"], audience=apple.ISSUER, issuer="ABCDE12345"
            )
        except jwt.InvalidTokenError:
            return answer(400, {"error": "invalid_client"})
        assert jwt.get_unverified_header(form["client_secret"])["kid"] == CONFIG["key_id"]
        assert secret["sub"] == form["client_id"] == CONFIG["client_id"]
        assert secret["exp"] - secret["iat"] == 300
        granted = self.codes.pop(form["code"], None)
        if granted is None or s256(form["code_verifier"]) != granted["code_challenge"]:
            return answer(400, {"error": "invalid_grant", "error_description": "The code has expired"})
        assert form["redirect_uri"] == granted["redirect_uri"]
        now = int(time.time())
        claims = {
            "iss": apple.ISSUER,
            "aud": CONFIG["client_id"],
            "iat": now,
            "exp": now + 86400,
            "sub": SUBJECT,
            "nonce": granted["nonce"],
            "email": "x4t2r@privaterelay.appleid.com",
            "email_verified": "true",
            "is_private_email": "true",
            "auth_time": now,
            "nonce_supported": True,
        }
        token = jwt.encode(claims | self.claims, SIGNING_KEY, "RS256", {"kid": "W6WcOKB"})
        document = {"access_token": "theirs", "token_type": "Bearer", "expires_in": 3600, "id_token": token}
        return answer(200, document | {"refresh_token": "r"})
