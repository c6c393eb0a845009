"""What ``manage.py import_users`` refuses: rows and files that are wrong, by field and rule."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from identity.core.errors import Invalid
from identity.users.imported_hashes import IMPORT_BOUNDS
from management.imports import formats
from management.imports.records import ForeignUser, LeftOut
from tests.support import threads
from tests.support.imports import FIREBASE, run, sign_in, write


def test_bad_rows_are_refused_one_by_one_with_field_and_rule_and_never_a_hash(acme, tmp_path):
    acme.user("Taken", email="taken@example.com", phone="+15555550111")
    secret = "$2b$31$" + "a" * 53
    rows: list[tuple[dict[str, Any] | str, str]] = [
        ({"id": "1", "username": "TAKEN"}, "username"),
        ({"id": "2", "email": "Taken@Example.com"}, "email"),
        ({"id": "3", "phone": "+1 (555) 555-0111"}, "phone"),
        ({"id": "4", "username": "twice"}, ""),
        ({"id": "5", "username": "TWICE"}, "username"),
        ({"id": "6", "username": "with space"}, "username"),
        ({"id": "7", "email": "no address"}, "email"),
        ({"id": "8", "username": "h", "password_hash": secret}, "password_hash"),
        ({"id": "9"}, "username"),
        ({"id": "10", "username": "j", "custom_data": {"a": "\0"}}, "custom_data"),
        ({"id": "11", "username": "k", "pasword_hash": secret}, "pasword_hash"),
        ({"id": "12", "username": "l", "email_verified": "perhaps"}, "email_verified"),
        ({"id": "13", "username": "m", "avatar": "http://plain.example/"}, "avatar"),
        ({"id": "14", "username": "n", "created_at": "2999-01-01"}, "created_at"),
        ({"id": "x" * 300, "username": "o"}, "id"),
        ("{not json " + secret, "line"),
        ({"id": "20", "username": "q", secret: "x"}, "line"),
        ({"id": "21", "username": "r", "created_at": "0001-01-01T00:00:00+23:59"}, "created_at"),
        ({"id": "22", "username": "s", "created_at": "1969-12-31T23:59:59Z"}, "created_at"),
        ("[1]", "line"),
        ({"id": "18", "username": 5}, "username"),
        ({"id": "19", "username": "p", "name": "a\u0000b"}, "name"),
    ]

    ran = run(acme, write(tmp_path, *(row for row, _ in rows)), report=tmp_path / "report.jsonl")

    assert ran.failed
    assert ran.summary["imported"] == 1
    told = sorted((one["line"], one["field"]) for one in ran.report)
    assert told == [(number, field) for number, (_, field) in enumerate(rows, 1) if field]
    assert all(one["rule"] for one in ran.report)
    sent = [row.get("id", "")[:64] if isinstance(row, dict) else "" for row, _ in rows]
    assert [one["id"][:64] for one in ran.report] == [sent[one["line"] - 1] for one in ran.report]
    assert secret not in (tmp_path / "report.jsonl").read_text() + ran.said
    assert (tmp_path / "report.jsonl").stat().st_mode & 0o077 == 0


UNREADABLE: list[tuple[str, Any, str]] = [
    ("jsonl", {"id": "j1", "username": "ann", "created_at": "x"}, "j1"),
    ("jsonl", {"email": "ann@example.com", "created_at": "x"}, "email:ann@example.com"),
    ("keycloak", {"users": [{"id": "k1", "username": "ann", "createdTimestamp": "x"}]}, "k1"),
    ("keycloak", {"users": [{"id": "k2", "username": "bot", "serviceAccountClientId": "bot"}]}, "k2"),
    ("auth0", {"user_id": "auth0|a1", "email": "ann@example.com", "created_at": "x"}, "a1"),
    ("auth0", {"_id": {"$oid": "a2"}, "email": "ann@example.com", "created_at": "x"}, "a2"),
    ("firebase", {"users": [{"localId": "f1", "email": "ann@example.com", "createdAt": "x"}]}, "f1"),
    ("firebase", {"users": [{"localId": "f2"}]}, "f2"),
    ("logto", [{"id": "l1", "username": "ann", "created_at": "x"}], "l1"),
    ("django", [{"model": "auth.user", "pk": 7, "fields": {"password": "", "date_joined": "x"}}], "7"),
    ("django", [{"model": "sessions.session", "pk": "a session's secret key", "fields": {}}], ""),
    ("jsonl", {"id": ["a list"], "email": "ann@example.com", "created_at": "x"}, "email:ann@example.com"),
    ("keycloak", {"users": [{"id": {}, "username": "ann", "createdTimestamp": "x"}]}, "ann"),
]


@pytest.mark.parametrize(("format_", "document", "sent"), UNREADABLE)
def test_the_report_has_the_id_of_a_record_that_is_not_imported(acme, tmp_path, format_, document, sent):
    path = tmp_path / "users"
    path.write_text(json.dumps(document))

    ran = run(acme, path, "--format", format_, report=tmp_path / "report.jsonl")

    assert [one["id"] for one in ran.report] == [sent]


def test_csv_that_is_broken_names_the_line(acme, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"id,username\r\n1,ann\r\n2,b\xffd\r\n3\r\n\r\n4,dan\r\n")

    ran = run(acme, path, report=tmp_path / "report.jsonl")

    assert [(one["line"], one["rule"]) for one in ran.report] == [
        (3, "must be UTF-8"),
        (4, "must have 2 columns, like the heading"),
    ]
    assert ran.summary["imported"] == 2


def test_a_file_without_a_heading_shows_no_hash_of_its_first_row(acme, tmp_path):
    path = tmp_path / "people.csv"
    secret = "$2b$12$" + "a" * 53
    path.write_text(f"1,ann,{secret}\n2,ben,{secret}\n")

    with pytest.raises(CommandError) as refused:
        run(acme, path)

    assert "the first line must have the names of the columns" in str(refused.value)
    assert secret[:20] not in str(refused.value)


def test_a_heading_that_is_not_utf8_is_refused(acme, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("id,username,ünknown\n1,ann,x\n".encode("utf-16"))

    with pytest.raises(CommandError, match="UTF-8"):
        run(acme, path)


@pytest.mark.parametrize(
    ("heading", "message"),
    [
        (
            "id,username,mail",
            "people.csv: the heading has an unknown column mail; the columns are id, username",
        ),
        (
            "id;username;email",
            "people.csv: the first line must have the names .* separated by commas; the col",
        ),
    ],
)
def test_a_wrong_heading_is_refused_once(acme, tmp_path, heading, message):
    path = tmp_path / "people.csv"
    path.write_text(f"{heading}\n1,ann,x\n2,ben,y\n")

    with pytest.raises(CommandError, match=message):
        run(acme, path)


def test_a_hash_that_cannot_be_taken_is_refused_unless_told_otherwise(acme, tmp_path):
    refused = run(acme, "firebase-users.csv", "--format", "firebase", report=tmp_path / "report.jsonl")
    assert (refused.summary["imported"], refused.failed) == (1, True)
    assert "--firebase-parameters" in refused.report[0]["rule"]

    taken = run(acme, "firebase-users.csv", "--format", "firebase", "--drop-unknown-hashes")

    assert (taken.summary["imported"], taken.summary["without_password"]) == (1, 1)
    assert sign_in(acme, "sam@example.com") == 401


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


NAMES = [
    *(
        "id",
        "user_id",
        "_id",
        "localId",
        "username",
        "email",
        "phone",
        "phoneNumber",
        "attributes",
        "credentials",
    ),
    *("createdTimestamp", "created_at", "createdAt", "emailVerified", "email_verified", "enabled", "blocked"),
    *("disabled", "password", "passwordHash", "custom_password_hash", "password_encrypted", "custom_data"),
    *(
        "customAttributes",
        "profile",
        "name",
        "firstName",
        "date_joined",
        "is_active",
        "model",
        "fields",
        "salt",
    ),
]


@pytest.mark.parametrize("name", formats.NAMES)
@drawn(max_examples=threads.rounds(20), deadline=None)
@given(
    raw=st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=8),
    credential=st.dictionaries(
        st.sampled_from(["secretData", "credentialData"]),
        st.dictionaries(st.sampled_from(["value", "salt", "algorithm", "hashIterations"]), ANYTHING),
    ),
)
def test_whatever_a_record_holds_is_a_person_or_refused(name, raw, credential):
    form = formats.get_format(name, firebase_parameters=Path(FIREBASE[1]))
    try:
        found = form.to_user(raw | {"credentials": [credential | {"type": "password"}]})
        assert isinstance(found, ForeignUser)
        if found.encoded:
            found.encoded(IMPORT_BOUNDS)
    except (Invalid, LeftOut):
        pass
