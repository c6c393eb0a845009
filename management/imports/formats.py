"""The import formats: how a file is read, and how a record becomes a user."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from management.imports import auth0, django_users, files, firebase, keycloak, logto, own
from management.imports.records import Foreign, Raw, Unreadable

NAMES: Final = ("csv", "jsonl", "keycloak", "auth0", "firebase", "logto", "django")
_BY_ENDING: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}


@dataclass(frozen=True, slots=True)
class Format:
    """How the files of a system are read, and how their records become users."""

    read: Callable[[Path], Iterator[Raw]]
    person: Callable[[dict[str, Any]], Foreign]


def guess_format(path: Path) -> str:
    """Return the format of a file by its name: ``csv`` or ``jsonl``.

    Raises:
        Unreadable: the name has another ending.

    """
    found = _BY_ENDING.get(path.suffix.lower())
    if found is None:
        raise Unreadable(f"{path.name}: give the format with --format")
    return found


def get_format(
    name: str, *, firebase_parameters: Path | None = None, auth0_passwords: Path | None = None
) -> Format:
    """Return a format by its name.

    Raises:
        Unreadable: one of the format's own files is invalid.

    """
    if name == "firebase":
        project = firebase.parameters(firebase_parameters) if firebase_parameters else None
        return Format(firebase.read, partial(firebase.person, project=project))
    if name == "auth0":
        hashes = auth0.passwords(auth0_passwords) if auth0_passwords else {}
        return Format(auth0.read, partial(auth0.person, hashes=hashes))
    return {
        "csv": Format(files.csv_rows, own.person),
        "jsonl": Format(files.json_lines, own.person),
        "keycloak": Format(keycloak.read, keycloak.person),
        "logto": Format(logto.read, logto.person),
        "django": Format(django_users.read, django_users.person),
    }[name]
