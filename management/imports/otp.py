"""The secrets of authenticators in import files.

A user with an authenticator that is not supported is refused. If only the authenticator were left out, the
password alone would be enough to sign in.
"""

import base64
from collections.abc import Iterable
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.factors import authenticators
from identity.factors.authenticators import MOST, ImportedSecret
from management.imports import values

_FIELD: Final = "totp_secret"
_MAX_NAME: Final = 64
# Keycloak's parameters of the only kind of codes that this server supports.
_SUPPORTED: Final = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1"}


def read_base32(text: object) -> ImportedSecret:
    """Return the secret of a column.

    Raises:
        Invalid: the text is not base32 of 16 to 64 characters.

    """
    return ImportedSecret(authenticators.parse_secret(values.text(text), field=_FIELD))


def read_keycloak(credentials: Any) -> list[ImportedSecret]:
    """Return the secrets of the credentials of a user of Keycloak, each once.

    Raises:
        Invalid: the codes are not time-based with six digits, 30 seconds and SHA-1, a secret cannot be read,
            or there are too many.

    """
    items = credentials if isinstance(credentials, list) else []
    return _check_number(
        _read(item) for item in items if isinstance(item, dict) and item.get("type") in ("otp", "totp")
    )


def read_logto(verifications: Any) -> list[ImportedSecret]:
    """Return the secrets of the column ``mfa_verifications`` of Logto, each once. These have no labels.

    Raises:
        Invalid: the column cannot be read, a secret is not base32 of 16 to 64 characters, or there are too
            many.

    """
    items = values.json_objects(_FIELD, verifications)
    return _check_number(read_base32(item.get("key")) for item in items if item.get("type") == "Totp")


def _check_number(found: Iterable[ImportedSecret]) -> list[ImportedSecret]:
    """Return the secrets, each once.

    Raises:
        Invalid: there are too many.

    """
    secrets = list({imported.secret: imported for imported in found}.values())
    if len(secrets) > MOST:
        raise Invalid(_FIELD, fill(gettext_noop("there are more than %(most)s authenticators"), most=MOST))
    return secrets


def _read(credential: dict[str, Any]) -> ImportedSecret:
    facts = values.json_object(_FIELD, credential.get("credentialData"))
    if any(facts.get(name) != value for name, value in _SUPPORTED.items()):
        rule = gettext_noop("must be time-based, with six digits, 30 seconds and SHA-1")
        raise Invalid(_FIELD, rule)
    value = values.text(values.json_object(_FIELD, credential.get("secretData")).get("value"))
    # Without an encoding, the characters themselves are the key.
    encoding = facts.get("secretEncoding")
    text = base64.b32encode(value.encode()).decode() if encoding is None else value
    if encoding not in (None, "BASE32"):
        raise Invalid(_FIELD, gettext_noop("has an encoding that is not supported"))
    label = " ".join(values.text(credential.get("userLabel")).split())
    name = "".join(sign for sign in label if sign.isprintable())[:_MAX_NAME]
    return ImportedSecret(authenticators.parse_secret(text, field=_FIELD), name)
