"""Keycloak: the output of ``kc.sh export``, in one file or in several."""

import base64
import binascii
from collections.abc import Iterator
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.users import imported_hashes
from identity.users.imported_hashes import Bounds
from management.imports import files, otp, profiles, values
from management.imports.records import ForeignUser, ImportFile, LeftOut, Record

_DIGESTS: Final = {"pbkdf2": "sha1", "pbkdf2-sha256": "sha256", "pbkdf2-sha512": "sha512"}
_ARGON2_VERSIONS: Final = {"1.3": "19", "1.0": "16"}


def read(path: ImportFile) -> Iterator[Record]:
    """Return the records of all realms of an export."""
    export = files.document(path)
    realms = export if isinstance(export, list) else [export]
    for realm in realms:
        yield from files.items(path, realm.get("users", []) if isinstance(realm, dict) else None)


def to_user(raw: dict[str, Any]) -> ForeignUser:
    """Return the user of a record.

    Raises:
        LeftOut: the account belongs to a service.
        Invalid: a value cannot be read.

    """
    if raw.get("serviceAccountClientId"):
        raise LeftOut(gettext_noop("a service account, not a user"))
    attributes = {
        name: _unwrap(value)
        for name, value in values.json_object("attributes", raw.get("attributes")).items()
    }
    email, phone = values.text(raw.get("email")), values.text(attributes.get("phoneNumber"))
    identifiers = values.split_identifiers(values.text(raw.get("username")), email, phone)
    fields: dict[str, Any] = identifiers | {
        "name": values.full_name(raw.get("firstName"), raw.get("lastName")),
        "email_verified": bool(email) and values.flag("emailVerified", raw.get("emailVerified")),
        "phone_verified": bool(phone)
        and values.text(attributes.get("phoneNumberVerified")).lower() == "true",
        "avatar": values.picture_url(attributes.get("picture")),
        "is_suspended": raw.get("enabled") is False,
        "profile": profiles.from_names(raw.get("firstName"), raw.get("lastName")),
        "custom_data": attributes,
    }
    if created_at := values.timestamp(raw.get("createdTimestamp")):
        fields["created_at"] = created_at
    password = _find_password(raw.get("credentials"))
    return ForeignUser(
        find_id(raw),
        fields,
        (lambda bounds: _encode(password, bounds)) if password else None,
        secrets=lambda: otp.read_keycloak(raw.get("credentials")),
    )


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user, or the username if there is no id."""
    return values.identifier(raw.get("id")) or values.text(raw.get("username"))


def _unwrap(value: Any) -> Any:
    """Return the value of an attribute that has only one. Keycloak stores a list for each attribute."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _find_password(credentials: Any) -> dict[str, Any]:
    items = credentials if isinstance(credentials, list) else []
    return next((item for item in items if isinstance(item, dict) and item.get("type") == "password"), {})


def _encode(credential: dict[str, Any], bounds: Bounds) -> str:
    described = values.json_object("password_hash", credential.get("credentialData"))
    secret = values.json_object("password_hash", credential.get("secretData"))
    algorithm, value = values.text(described.get("algorithm")), values.text(secret.get("value"))
    if algorithm in {"bcrypt", "argon2id", "argon2i"} or value.startswith("$"):
        return imported_hashes.normalize(value, bounds)
    try:
        salt, checksum = (
            base64.b64decode(values.text(text), validate=True) for text in (secret.get("salt"), value)
        )
        if algorithm == "argon2":
            return imported_hashes.normalize(_format_argon2(described, salt, checksum), bounds)
        return imported_hashes.encode_pbkdf2(
            _DIGESTS[algorithm], int(described["hashIterations"]), salt, checksum, bounds
        )
    except (KeyError, ValueError, TypeError, IndexError, binascii.Error):
        raise Invalid(
            "password_hash",
            gettext_noop("must be pbkdf2, pbkdf2-sha256, pbkdf2-sha512 or argon2, as Keycloak stores it"),
        ) from None


def _format_argon2(described: dict[str, Any], salt: bytes, checksum: bytes) -> str:
    more = described["additionalParameters"]
    variety, version = more["type"][0], _ARGON2_VERSIONS[more["version"][0]]
    cost = f"m={int(more['memory'][0])},t={int(described['hashIterations'])},p={int(more['parallelism'][0])}"
    parts = (base64.b64encode(part).decode().rstrip("=") for part in (salt, checksum))
    return f"$argon2{variety}$v={version}${cost}${'$'.join(parts)}"
