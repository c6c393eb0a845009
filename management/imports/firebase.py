"""Firebase: the output of ``firebase auth:export`` as JSON or CSV, and the project's hash parameters."""

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.users import imported_hashes
from identity.users.imported_hashes import Bounds
from management.imports import files, values
from management.imports.records import ForeignUser, ImportFile, LeftOut, Record, Unreadable

# The CSV has no heading. The columns in the middle are linked accounts, four columns for each provider.
_COLUMNS: Final = (
    *("localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl"),
    *(
        f"_{provider}_{number}"
        for provider in ("google", "facebook", "twitter", "github")
        for number in range(4)
    ),
    *("createdAt", "lastSignedInAt", "phoneNumber", "disabled", "customAttributes"),
)
_MAX_PARAMETERS: Final = 8 * 1024  # bytes
# Names and values are bounded, so the time is proportional to the length of the text.
_PARAMETER: Final = re.compile(r'\b(\w{1,40})"?\s*:\s*"?([A-Za-z0-9+/=_-]{1,512})(?![A-Za-z0-9+/=_-])')


@dataclass(frozen=True, slots=True)
class Parameters:
    """The password hash parameters of a project. The signer key is a secret."""

    signer_key: bytes
    separator: bytes
    rounds: int
    cost: int


def read(path: ImportFile) -> Iterator[Record]:
    """Return the records of an export."""
    if files.first_character(path) != "{":
        return files.csv_rows(path, _COLUMNS)
    export = files.document(path)
    return files.items(path, export.get("users"))


def parameters(path: ImportFile) -> Parameters:
    """Return the password hash parameters in a file: the text that the Firebase console shows, or JSON.

    Raises:
        Unreadable: the file is larger than 8 KiB, a parameter is missing or invalid, or the algorithm is not
            SCRYPT.

    """
    with path.open("rb") as file:
        content = file.read(_MAX_PARAMETERS + 1)
    if len(content) > _MAX_PARAMETERS:
        rule = fill(gettext_noop("must have at most %(count)s KiB"), count=_MAX_PARAMETERS // 1024)
        raise Unreadable(fill("%(file)s: %(rule)s", file=path.name, rule=rule))
    entries = dict(_PARAMETER.findall(content.decode(errors="replace")))
    try:
        if entries.get("algorithm", "SCRYPT") != "SCRYPT":
            raise Unreadable(
                fill(
                    gettext_noop("%(file)s: the algorithm must be SCRYPT, as in Firebase's exports"),
                    file=path.name,
                )
            )
        return Parameters(
            signer_key=_decode(entries["base64_signer_key"]),
            separator=_decode(entries.get("base64_salt_separator", "")),
            rounds=int(entries["rounds"]),
            cost=int(entries["mem_cost"]),
        )
    except (KeyError, ValueError):
        raise Unreadable(
            fill(
                gettext_noop(
                    "%(file)s must contain base64_signer_key, base64_salt_separator, rounds and mem_cost"
                ),
                file=path.name,
            )
        ) from None


def to_user(raw: dict[str, Any], project: Parameters | None) -> ForeignUser:
    """Return the user of a record.

    Raises:
        LeftOut: the account is anonymous.
        Invalid: a value cannot be read.

    """
    email, phone = values.text(raw.get("email")), values.text(raw.get("phoneNumber"))
    if not email and not phone:
        raise LeftOut(
            gettext_noop("an account without an email or phone: anonymous, or with linked accounts only")
        )
    fields: dict[str, Any] = {
        "email": email,
        "email_verified": values.flag("emailVerified", raw.get("emailVerified")),
        "phone": phone,
        # Firebase stores a phone number only after verification by a message or by the project's server.
        "phone_verified": bool(phone),
        "name": values.text(raw.get("displayName")),
        "avatar": values.picture_url(raw.get("photoUrl")),
        "is_suspended": values.flag("disabled", raw.get("disabled")),
        "custom_data": values.json_object("customAttributes", raw.get("customAttributes")),
    }
    if created_at := values.timestamp(raw.get("createdAt")):
        fields["created_at"] = created_at
    has_password = bool(raw.get("passwordHash"))
    return ForeignUser(
        find_id(raw),
        fields,
        (lambda bounds: _encode(raw, project, bounds)) if has_password else None,
    )


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user."""
    return values.text(raw.get("localId"))


def _encode(raw: dict[str, Any], project: Parameters | None, bounds: Bounds) -> str:
    if project is None:
        raise Invalid(
            "password_hash",
            gettext_noop(
                "needs the project's hash parameters: --firebase-parameters, or Password file on the site"
            ),
        )
    try:
        salt, checksum = _decode(values.text(raw.get("salt"))), _decode(values.text(raw["passwordHash"]))
    except ValueError:
        raise Invalid("password_hash", gettext_noop("must be base64, and so must its salt")) from None
    return imported_hashes.encode_firebase(
        cost=project.cost,
        rounds=project.rounds,
        salt=salt,
        separator=project.separator,
        signer_key=project.signer_key,
        checksum=checksum,
        bounds=bounds,
    )


def _decode(text: str) -> bytes:
    """Decode base64 in either alphabet, with padding or without."""
    standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError("not base64") from error
