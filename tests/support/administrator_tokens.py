"""The sign-in of administrators over HTTP, and tokens that say otherwise."""

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
    """Check for a 401 in an envelope, with the challenge that says how to come in."""
    assert answer.status_code == 401, answer.text
    assert answer.json() == {"code": 401, "message": answer.json()["message"], "result": ""}
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.headers["Cache-Control"] == "no-store"


def key_of(kid=None):
    """The secret behind administrator tokens, as only this installation knows it."""
    return keyring.subkey("administrator tokens", kid or keyring.current_id()).hex()


def sealed(header, payload, secret=None):
    """A token with exactly these bytes in it, under the secret of this installation."""
    text = f"{encode(json.dumps(header).encode())}.{encode(payload)}"
    return f"{text}.{encode(hmac.digest((secret or key_of()).encode(), text.encode(), 'sha256'))}"


def changed(token, header=(), claims=()):
    """A token that says otherwise, under the secret of this installation. None takes something out."""
    parts = [header_of(token) | dict(header), claims_of(token) | dict(claims)]
    header, claims = ({name: value for name, value in part.items() if value is not None} for part in parts)
    return sealed(header, json.dumps(claims).encode())


def forged(token, secret, algorithm="HS256"):
    """The same claims, signed with something else."""
    header = {"typ": "admin+jwt", "kid": keyring.current_id()}
    return jwt.encode(claims_of(token), secret, algorithm=algorithm, headers=header)
