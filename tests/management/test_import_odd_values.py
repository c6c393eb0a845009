"""*Import users*: whatever a value of a file is, its row is imported or refused, and nothing fails."""

import csv
import json
from collections.abc import Iterator
from copy import deepcopy
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from identity.core.errors import Invalid
from management.site.user_import import uploads
from management.site.user_import.uploads import Upload
from tests.support import operators
from tests.support.cast import World
from tests.support.import_page import SAMPLES, checked, numbers
from tests.support.imports import run

ODD: list[Any] = [[], {"a": [1]}, 7, None, "a\0b", "\ud800"]
ODD_CELLS = [b"[]", b"{}", b"7", b"", b"a\0b", b"J\xfcrgen"]
PASSWORDS = {
    "auth0": (SAMPLES / "auth0-passwords.ndjson").read_bytes(),
    "firebase": (SAMPLES / "firebase-parameters.txt").read_bytes(),
}
PARTS = ("credentialData", "secretData", "customAttributes")  # JSON in a text


def read_json(name: str) -> list[Any]:
    text = (SAMPLES / name).read_text()
    if name.endswith(("ndjson", "jsonl")):
        return [json.loads(line) for line in text.splitlines() if line]
    document = json.loads(text)
    return list(document["users"] if isinstance(document, dict) else document)


def unfold(value: Any) -> Any:
    """The value, with objects in place of texts that have one as JSON."""
    if isinstance(value, list):
        return [unfold(item) for item in value]
    if isinstance(value, dict):
        return {
            name: unfold(json.loads(item) if name in PARTS and isinstance(item, str) else item)
            for name, item in value.items()
        }
    return value


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all members and items."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(value[key], (*above, key))


def changed(record: Any, path: tuple[Any, ...], odd: Any) -> Any:
    copy = deepcopy(record)
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = odd
    return copy


def imports(world: World, format_: str, content: bytes) -> dict[str, Any] | Invalid:
    """Import a file and undo it."""
    upload = Upload("users", content, format_, format_, password_file=PASSWORDS.get(format_, b""))
    with world.active(), transaction.atomic():
        try:
            return uploads.prepare(upload).store()
        except Invalid as refusal:  # of the whole file
            return refusal
        finally:
            transaction.set_rollback(True)


def is_decided(report: dict[str, Any] | Invalid, odd: object) -> bool:
    """Say whether the row has one outcome, or the file is refused for a value that makes it no file."""
    if isinstance(report, Invalid):
        return odd in {"\ud800", b"{}"}  # no JSON, or a file that begins like JSON
    outcomes = ("imported", "present", "refused", "left_out")
    return sum(int(report[outcome]) for outcome in outcomes) == 1


@pytest.mark.parametrize(
    ("format_", "sample"),
    [
        ("keycloak", "keycloak-realm.json"),
        ("keycloak", "keycloak-otp.json"),
        ("auth0", "auth0-users.ndjson"),
        ("firebase", "firebase-users.json"),
        ("logto", "logto-users.json"),
        ("django", "django-users.json"),
        ("jsonl", "users.jsonl"),
    ],
)
def test_a_member_of_any_kind_is_taken_or_refuses_its_row(acme, format_, sample):
    records = unfold(read_json(sample))[:4]
    assert records
    for record in records:
        assert any(places(record))
        for path in places(record):
            for odd in ODD:
                row = changed(record, path, odd)
                document = {"users": [row]} if format_ in {"keycloak", "firebase"} else [row]
                lines = format_ in {"auth0", "jsonl"}
                content = json.dumps(row if lines else document).encode()
                report = imports(acme, format_, content)
                assert is_decided(report, odd), report


@pytest.mark.parametrize(
    ("format_", "sample"),
    [("csv", "users.csv"), ("django", "django-users.csv"), ("firebase", "firebase-users.csv")],
)
def test_a_cell_of_any_kind_is_taken_or_refuses_its_row(acme, format_, sample):
    rows = list(csv.reader(StringIO((SAMPLES / sample).read_text())))
    heading = rows.pop(0) if format_ != "firebase" else None
    assert rows
    for row in rows[:3]:
        assert row
        for column in range(len(row)):
            for odd in ODD_CELLS:
                cells = [*row[:column], "ODD", *row[column + 1 :]]
                out = StringIO()
                csv.writer(out).writerows([heading, cells] if heading else [cells])
                report = imports(acme, format_, out.getvalue().encode().replace(b"ODD", odd))
                assert is_decided(report, odd), report


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"username,name\nJ\xfcrgen,x\n", "users.csv"),
        (b"id,username\na\0b,ann\n", "users.csv"),
        (b'{"id": "a\\u0000b", "username": "ann"}\n', "users.jsonl"),
    ],
)
def test_an_id_that_cannot_be_stored_refuses_its_row(acme, content, name):
    _, page = checked(operators.at(acme), content, name)

    assert (numbers(page)["To create"], numbers(page)["Refused"]) == (0, 1)


@pytest.mark.parametrize("value", ["pbkdf2_sha256$1000$a\0b$hHq2CwjSpsUCltVF/ZDe25M5jA5hBHN9+inXRaOGbjU="])
def test_a_hash_with_a_nul_is_refused(acme, value):
    row = {"user_id": "1", "username": "ann", "passwordHash": value}

    report = imports(acme, "auth0", json.dumps(row).encode())

    assert isinstance(report, dict)
    assert [problem["field"] for problem in report["problems"]] == ["password_hash"]


def test_the_command_refuses_rows_of_another_kind(acme, tmp_path: Path):
    rows = [
        {"user_id": "1", "name": "x", "username": []},
        {"user_id": "2", "name": "Ann", "username": "ann", "phone_number": {}},
    ]
    path = tmp_path / "users.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)))

    ran = run(acme, path, "--format", "auth0")

    assert (ran.summary["imported"], ran.summary["refused"]) == (1, 1)
