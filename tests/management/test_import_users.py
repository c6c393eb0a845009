"""``manage.py import_users``: people of other systems sign in here with the password they have."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import IntegrityError
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from audit.models import Entry
from identity.core.errors import Invalid
from identity.users import importing
from identity.users.imported_hashes import IMPORT_BOUNDS
from identity.users.models import User
from management.imports import formats
from management.imports.records import ForeignUser, LeftOut
from tests.support import threads
from tests.support.cast import World

SAMPLES = Path(__file__).parent / "samples"
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


@pytest.mark.parametrize(
    ("file", "arguments", "identifiers"),
    [
        ("keycloak-realm.json", ("--format", "keycloak"), ("kim", "+491701234567", "LEE@example.com", "mai")),
        ("auth0-users.ndjson", ("--format", "auth0", *AUTH0), ("ola@example.com", "rosa@example.com")),
        ("firebase-users.csv", ("--format", "firebase", *FIREBASE), ("sam@example.com",)),
        ("logto-users.json", ("--format", "logto", "--drop-unknown-hashes"), ("uma", "+4915112345678")),
        (
            "django-users.csv",
            ("--format", "django", "--drop-unknown-hashes"),
            ("xena", "yan@example.com", "zoe", "abe"),
        ),
        (
            "django-users.json",
            ("--format", "django", "--drop-unknown-hashes"),
            ("xena", "yan@example.com", "zoe", "abe"),
        ),
        ("users.csv", (), ("dora", "dora@example.com")),
        ("users.jsonl", (), ("dora", "fay")),
    ],
)
def test_decision_I10_people_sign_in_with_the_password_they_have_elsewhere(
    acme, file, arguments, identifiers
):
    ran = run(acme, file, *arguments)

    assert not ran.failed
    assert sign_in(acme, identifiers[-1], PASSWORD + "!") == 401
    assert [sign_in(acme, identifier) for identifier in identifiers] == [200] * len(identifiers)
    assert sign_in(acme, identifiers[-1]) == 200, "once more, by the hash of ours that replaced theirs"
    with acme.active():
        renewed = User.objects.filter(login_count__gt=0).values_list("password", flat=True)
        assert all(stored.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$") for stored in renewed)


def test_firebases_published_account_signs_in(acme):
    ran = run(acme, "firebase-users.json", "--format", "firebase", *FIREBASE)

    assert ran.summary["imported"] == 2
    assert ran.summary["left_out"] == 1
    assert sign_in(acme, "user1@example.com", "user1password") == 200
    with acme.active():
        stored = User.objects.get(email="user1@example.com")
        key = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA"
        assert key not in stored.password


def test_who_was_suspended_elsewhere_is_suspended_here(acme):
    run(acme, "auth0-users.ndjson", "--format", "auth0", *AUTH0)

    assert sign_in(acme, "pia") == 403
    assert sign_in(acme, "pia", "wrong") == 401


def test_keycloak_what_maps_to_what(acme):
    ran = run(acme, "keycloak-realm.json", "--format", "keycloak")

    assert ran.summary == {
        "imported": 4, "present": 0, "refused": 0, "left_out": 1, "without_password": 0, "dry_run": False
    }  # fmt: skip
    kim, lee = user(acme, username="kim"), user(acme, email="lee@example.com")
    assert (kim.name, kim.email, kim.phone) == ("Kim Keller", "Kim.Keller@example.com", "+491701234567")
    assert (kim.email_verified, kim.phone_verified, kim.self_registered) == (True, True, False)
    assert kim.created_at.isoformat(timespec="milliseconds") == "2024-06-10T06:13:19.123+00:00"
    assert kim.custom_data["team"] == ["red", "blue"]
    assert kim.custom_data["imported"] == {"from": "keycloak", "id": "0b7f3b0e-6a43-4a1c-9f8a-2d6c9e1f0001"}
    assert (lee.username, lee.email_verified) == ("", False)
    assert (user(acme, username="nils").is_suspended, user(acme, username="nils").password) == (True, "")


def test_auth0_what_maps_to_what(acme):
    run(acme, "auth0-users.ndjson", "--format", "auth0", *AUTH0)

    ola = user(acme, email="ola@example.com")
    assert (ola.name, ola.email_verified, ola.username) == ("Ola Olsen", True, "")
    assert ola.avatar == "https://s.gravatar.com/avatar/0a1b.png"
    assert ola.custom_data["user_metadata"] == {"plan": "gold"}
    assert ola.custom_data["app_metadata"] == {"roles": ["editor"]}
    assert user(acme, email="quinn@example.com").password == ""


def test_logto_what_maps_to_what(acme):
    ran = run(acme, "logto-users.json", "--format", "logto", "--drop-unknown-hashes")

    assert (ran.summary["imported"], ran.summary["without_password"]) == (3, 1)
    uma = user(acme, username="uma")
    assert (uma.phone, uma.phone_verified, uma.email_verified) == ("+4915112345678", True, True)
    assert (uma.custom_data["gender"], uma.custom_data["plan"]) == ("female", "pro")
    assert user(acme, email="vic@example.com").is_suspended is True
    assert user(acme, username="wim").password == ""


def test_django_staff_become_people_like_all_others(acme):
    run(acme, "django-users.json", "--format", "django", "--drop-unknown-hashes")

    xena, yan = user(acme, username="xena"), user(acme, email="yan@example.com")
    assert (xena.name, xena.email_verified, yan.username) == ("Xena Xu", False, "")
    assert user(acme, username="bea").is_suspended is True
    assert sign_in(acme, "bea", "!unusable9a8b7c") == 401


def test_own_columns_are_those_of_the_api_and_what_an_operator_vouches_for(acme):
    run(acme, "users.csv")

    dora, emil = user(acme, username="dora"), user(acme, email="emil@example.com")
    assert (dora.name, dora.email_verified, dora.custom_data["gender"]) == ("Dora Díaz", True, "female")
    assert (emil.name, emil.phone) == ('Emil"s name, with a comma', "+442079460000")
    assert (emil.is_suspended, emil.phone_verified) == (True, False)


def test_everybody_is_in_the_audit_log_and_another_tenant_is_untouched(acme, rival):
    stays = rival.user("dora", email="dora@example.com")
    before = Entry.objects.filter(tenant_id=rival.tenant.pk).count()

    run(acme, "users.csv")

    created = Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Create")
    with acme.active():
        assert {entry.payload["id"] for entry in created} == {
            str(pk) for pk in User.objects.values_list("pk", flat=True)
        }
    assert {entry.payload["imported_from"] for entry in created} == {"csv"}
    with rival.active():
        assert list(User.objects.values_list("pk", "password")) == [(stays.pk, stays.password)]
    assert Entry.objects.filter(tenant_id=rival.tenant.pk).count() == before


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
    assert secret not in (tmp_path / "report.jsonl").read_text() + ran.said
    assert (tmp_path / "report.jsonl").stat().st_mode & 0o077 == 0


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

    ran = run(acme, path, report=tmp_path / "report.jsonl")

    assert ran.report[0]["field"] == "line"
    assert secret[:20] not in (tmp_path / "report.jsonl").read_text() + ran.said


def test_a_heading_that_is_not_utf8_is_refused(acme, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes("id,username,ünknown\n1,ann,x\n".encode("utf-16"))

    with pytest.raises(CommandError, match="UTF-8"):
        run(acme, path)


@pytest.mark.parametrize("batch", ["1", "2", "500"])
def test_a_second_run_imports_nobody_twice_however_they_were_changed(acme, batch):
    run(acme, "users.csv", "--batch", batch)
    with acme.active():
        User.objects.filter(username="dora").update(
            username="doris", username_key="doris", email="", email_key=None
        )
        before = list(User.objects.order_by("pk").values())
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk).count()

    again = run(acme, "users.csv", "--batch", batch)

    assert (again.summary["imported"], again.summary["present"], again.failed) == (0, 2, False)
    with acme.active():
        assert list(User.objects.order_by("pk").values()) == before
    assert Entry.objects.filter(tenant_id=acme.tenant.pk).count() == entries


def test_after_an_interruption_the_same_command_goes_on(acme, tmp_path, monkeypatch):
    people = write(tmp_path, *({"id": str(n), "username": f"p{n}"} for n in range(10)))
    calls = []

    def interrupted(batch: list[User]) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return add(batch)

    add = importing.add
    monkeypatch.setattr(importing, "add", interrupted)
    stopped = run(acme, people, "--batch", "2")
    monkeypatch.setattr(importing, "add", add)

    assert stopped.summary["imported"] == 4
    with acme.active():
        assert User.objects.count() == 4
    resumed = run(acme, people, "--batch", "2")
    assert (resumed.summary["present"], resumed.summary["imported"]) == (4, 6)
    with acme.active():
        assert User.objects.count() == 10


def test_a_batch_that_fails_leaves_neither_users_nor_entries(acme, tmp_path, monkeypatch):
    def fails(*_: Any) -> None:
        raise RuntimeError("the database went away")

    monkeypatch.setattr("audit.log.record_all", fails)
    with pytest.raises(RuntimeError):
        run(acme, "users.csv")

    with acme.active():
        assert not User.objects.exists()


def test_somebody_who_registers_at_the_same_moment_keeps_their_name(acme, tmp_path, monkeypatch):
    insert = importing._insert

    def meanwhile(_: list[User]) -> None:
        monkeypatch.setattr(importing, "_insert", insert)
        acme.user("dora")
        raise IntegrityError

    monkeypatch.setattr(importing, "_insert", meanwhile)
    ran = run(acme, "users.csv", "--format", "csv")

    assert (ran.summary["imported"], ran.summary["refused"]) == (1, 1)


def test_an_error_of_the_database_that_nobody_explains_is_not_swallowed(acme, monkeypatch):
    def fails(_: Any) -> None:
        raise IntegrityError

    monkeypatch.setattr(importing, "_insert", fails)

    with pytest.raises(IntegrityError):
        run(acme, "users.csv")


def test_a_dry_run_finds_what_is_wrong_and_stores_nothing(acme, tmp_path):
    acme.user("taken")
    people = write(
        tmp_path, *({"id": str(n), "username": name} for n, name in enumerate(["a", "b", "A", "taken", "c"]))
    )

    ran = run(acme, people, "--dry-run", "--batch", "1", report=tmp_path / "report.jsonl")

    assert (ran.summary["imported"], ran.summary["refused"], ran.failed) == (3, 2, True)
    assert [one["line"] for one in ran.report] == [3, 4]
    with acme.active():
        assert User.objects.count() == 1


def test_two_sources_of_the_same_format_do_not_hide_each_others_people(acme, tmp_path):
    write(tmp_path, {"id": "1", "username": "ann"}, name="a.jsonl")
    write(tmp_path, {"id": "1", "username": "ben"}, name="b.jsonl")

    run(acme, tmp_path / "a.jsonl", "--source", "shop")
    second = run(acme, tmp_path / "b.jsonl", "--source", "forum")

    assert second.summary["imported"] == 1


def test_a_hash_that_cannot_be_taken_is_refused_unless_told_otherwise(acme, tmp_path):
    refused = run(acme, "firebase-users.csv", "--format", "firebase", report=tmp_path / "report.jsonl")
    assert (refused.summary["imported"], refused.failed) == (1, True)
    assert "--firebase-parameters" in refused.report[0]["rule"]

    taken = run(acme, "firebase-users.csv", "--format", "firebase", "--drop-unknown-hashes")

    assert (taken.summary["imported"], taken.summary["without_password"]) == (1, 1)
    assert sign_in(acme, "sam@example.com") == 401


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("users.csv", "--tenant", "no-such-tenant"), "no tenant"),
        (("no-such-file.csv", "--tenant", "default"), "no file"),
        (("keycloak-realm.json", "--tenant", "default"), "--format"),
        (("users.csv", "--tenant", "default", "--format", "keycloak"), "is not JSON"),
        (("firebase-parameters.txt", "--tenant", "default", "--format", "logto"), "heading|columns"),
        (("users.csv", "--tenant", "default", "--batch", "0"), "1 to 5000"),
        (("keycloak-realm.json", "--tenant", "default", "--format", "keycloak", "--dry-run",
          "--firebase-parameters", "/dev/null"), "no file"),
        (("firebase-users.csv", "--tenant", "default", "--format", "firebase", "--dry-run",
          "--firebase-parameters", str(SAMPLES / "users.csv")), "base64_signer_key"),
        (("firebase-users.csv", "--tenant", "default", "--format", "firebase", "--dry-run",
          "--firebase-parameters", __file__), "test_import_users.py: must have at most 8 KiB"),
    ],
)  # fmt: skip
def test_what_it_is_told_is_looked_at_first(database, arguments, message):
    name, *rest = arguments
    error = StringIO()

    with pytest.raises((CommandError, SystemExit)) as refused:
        call_command("import_users", str(SAMPLES / name), *rest, stdout=StringIO(), stderr=error)

    if isinstance(refused.value, CommandError):
        refused.match(message)


def test_it_is_a_command_that_ends_with_1_when_somebody_was_refused(acme, tmp_path):
    people = write(tmp_path, {"id": "1", "username": "good"}, {"id": "2", "username": "not good"})

    ended = subprocess.run(
        [sys.executable, "manage.py", "import_users", str(people), "--tenant", acme.tenant.slug],
        cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 1, ended.stderr
    assert "Imported" in ended.stdout
    assert json.loads(ended.stderr.splitlines()[0])["field"] == "username"


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
