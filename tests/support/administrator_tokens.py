"""The sign-in of administrators over HTTP, and tokens with changed claims or signatures."""

import hmac
import json

import httpx
import jwt
from django.conf import settings as configured

from identity.encryption import keyring
from tests.support.forgery import encode
from tests.support.independent import bearer, claims_of, header_of

SIGN_IN = "/api/admin/sign-in"
ME = "/api/admin/me"


def sign_in(place=None, **body):
    return httpx.post(f"{place or configured.BASE_URL}{SIGN_IN}", json=body)


def me(token, place=None, **headers):
    return httpx.get(f"{place or configured.BASE_URL}{ME}", headers=bearer(token) | headers)


def is_unknown(answer):
    """Check for a 401 in an envelope, with a challenge that names the scheme."""
    assert answer.status_code == 401, answer.text
    assert answer.json() == {"code": 401, "message": answer.json()["message"], "result": ""}
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.headers["Cache-Control"] == "no-store"


def key_of(kid=None):
    """Return the secret with which this installation signs the tokens of administrators."""
    return keyring.subkey("administrator tokens", kid or keyring.current_id()).hex()


def sealed(header, payload, secret=None):
    """Return a token with exactly these bytes, signed with the secret of this installation."""
    text = f"{encode(json.dumps(header).encode())}.{encode(payload)}"
    return f"{text}.{encode(hmac.digest((secret or key_of()).encode(), text.encode(), 'sha256'))}"


def changed(token, header=(), claims=()):
    """Return a token with changed claims, signed with the secret of this installation. None removes one."""
    parts = [header_of(token) | dict(header), claims_of(token) | dict(claims)]
    header, claims = ({name: value for name, value in part.items() if value is not None} for part in parts)
    return sealed(header, json.dumps(claims).encode())


def forged(token, secret, algorithm="HS256"):
    """Return a token with the same claims, signed with another secret or algorithm."""
    header = {"typ": "admin+jwt", "kid": keyring.current_id()}
    return jwt.encode(claims_of(token), secret, algorithm=algorithm, headers=header)
