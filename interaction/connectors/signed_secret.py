"""Client secrets that a private key signs for one request (RFC 7523), as Apple requires them."""

import base64
import binascii
import re
import time
from typing import Final

from django.utils.translation import gettext_noop
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

_LIFETIME_SECONDS: Final = 300
_CURVE: Final = "P-256"
_LONGEST: Final = 4096
_PEM: Final = re.compile(r"\s*-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----\s*")


class BadKey(ValueError):
    """A text is not a private key of the curve P-256. ``str()`` is the broken rule."""


def check(pem: str) -> None:
    """Check that a text is a private key for ES256.

    Raises:
        BadKey: it is not.

    """
    _load(pem)


def sign(pem: str, *, key_id: str, issuer: str, subject: str, audience: str) -> str:
    """Return a client secret that is valid for five minutes.

    Raises:
        BadKey: the text is not a private key for ES256.

    """
    now = int(time.time())
    claims = {"iss": issuer, "iat": now, "exp": now + _LIFETIME_SECONDS, "aud": audience, "sub": subject}
    return jwt.encode({"alg": "ES256", "kid": key_id}, claims, _load(pem), algorithms=["ES256"])


def _load(pem: str) -> ECKey:
    """Return the key of a PEM text. Line breaks may be missing, because one-line inputs remove them."""
    found = _PEM.fullmatch(pem) if len(pem) <= _LONGEST else None
    if found is None:
        raise BadKey(
            gettext_noop("must be the content of a .p8 file, from BEGIN PRIVATE KEY to END PRIVATE KEY")
        )
    try:
        der = base64.b64decode("".join(found.group(1).split()), validate=True)
        body = base64.encodebytes(der).decode()
        key = ECKey.import_key(f"-----BEGIN PRIVATE KEY-----\n{body}-----END PRIVATE KEY-----\n")
    except (JoseError, binascii.Error, ValueError, TypeError, AttributeError):
        # On malformed input, the library raises not only its own errors.
        raise BadKey(gettext_noop("is not a valid private key: copy the whole .p8 file")) from None
    if key.curve_name != _CURVE or not key.is_private:
        raise BadKey(gettext_noop("must be a key of the curve P-256"))
    return key
