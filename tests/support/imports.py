"""Imports of users from files of other systems."""

import json
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

from identity.users.models import User
from tests.support.cast import World

SAMPLES = settings.BASE_DIR / "tests" / "management" / "samples"
PASSWORD = "correct horse battery"
FIREBASE = ("--firebase-parameters", str(SAMPLES / "firebase-parameters.txt"))
AUTH0 = ("--auth0-passwords", str(SAMPLES / "auth0-passwords.ndjson"))


@dataclass
class Ran:
    """How an import went."""

    summary: dict[str, Any]
    report: list[dict[str, Any]]
    failed: bool
    said: str


def run(world: World, file: Path | str, *arguments: str, report: Path | None = None) -> Ran:
    out, error = StringIO(), StringIO()
    path = SAMPLES / file
    told = ("--report", str(report)) if report else ()
    failed = False
    try:
        call_command(
            "import_users",
            *(str(path), "--tenant", world.tenant.slug, "--json", *told, *arguments),
            stdout=out,
            stderr=error,
        )
    except SystemExit as end:
        failed = end.code == 1
    lines = report.read_text().splitlines() if report else []
    return Ran(json.loads(out.getvalue()), [json.loads(line) for line in lines], failed, error.getvalue())


def sign_in(world: World, identifier: str, password: str = PASSWORD) -> int:
    answer = world.browser().post(
        "/api/interaction/sign-in", json={"identifier": identifier, "password": password}
    )
    return answer.status_code


def user(world: World, **look_up: Any) -> User:
    with world.active():
        return User.objects.get(**look_up)


def write(folder: Path, *rows: dict[str, Any] | str, name: str = "people.jsonl") -> Path:
    path = folder / name
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows))
    return path
