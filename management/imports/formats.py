"""The formats of import files, by name."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from management.imports import auth0, django_users, files, firebase, keycloak, logto, own
from management.imports.records import ForeignUser, ImportFile, Record, Unreadable

NAMES: Final = ("csv", "jsonl", "keycloak", "auth0", "firebase", "logto", "django")
_BY_ENDING: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True, slots=True)
class Format:
    """The functions that read a file of this format and turn its records into users.

    ``find_id`` returns the id of a record, or an empty string. It raises nothing.
    """

    read: Callable[[ImportFile], Iterator[Record]]
    find_id: Callable[[dict[str, Any]], str]
    to_user: Callable[[dict[str, Any]], ForeignUser]


def guess_format(path: ImportFile) -> str:
    """Return the format that the name of a file implies: ``csv`` or ``jsonl``.

    Raises:
        Unreadable: the name implies no format.

    """
    format_name = _BY_ENDING.get(path.suffix.lower())
    if format_name is None:
        raise Unreadable(f"{path.name}: the name implies no format, so use --format")
    return format_name


def get_format(
    name: str, *, firebase_parameters: ImportFile | None = None, auth0_passwords: ImportFile | None = None
) -> Format:
    """Return a format by its name.

    Raises:
        Unreadable: the Firebase parameters or the Auth0 password hashes cannot be read.

    """
    if name == "firebase":
        project = firebase.parameters(firebase_parameters) if firebase_parameters else None
        return Format(firebase.read, firebase.find_id, partial(firebase.to_user, project=project))
    if name == "auth0":
        hashes = auth0.passwords(auth0_passwords) if auth0_passwords else {}
        return Format(auth0.read, auth0.find_id, partial(auth0.to_user, hashes=hashes))
    return {
        "csv": Format(files.csv_rows, own.find_id, own.to_user),
        "jsonl": Format(files.json_lines, own.find_id, own.to_user),
        "keycloak": Format(keycloak.read, keycloak.find_id, keycloak.to_user),
        "logto": Format(logto.read, logto.find_id, logto.to_user),
        "django": Format(django_users.read, django_users.find_id, django_users.to_user),
    }[name]
