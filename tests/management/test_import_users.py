"""``manage.py import_users``: people of other systems sign in here with the password they have."""

import json
import os
import subprocess
import sys
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from audit.models import Entry
from identity.users.models import User
from management.site import entry_subjects
from tests.support import operators
from tests.support.imports import AUTH0, FIREBASE, PASSWORD, SAMPLES, run, sign_in, user, write


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
    assert sign_in(acme, identifiers[-1]) == 200, "again, by our hash that replaced theirs"
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
        "imported": 4, "present": 0, "refused": 0, "left_out": 1, "without_password": 0, "without_hash": 1,
        "dry_run": False,
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
    assert ran.summary["without_hash"] == 0
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
    with acme.active():
        actors = entry_subjects.find_actors(created, operators.administrator(is_superuser=True))
    assert set(actors.values()) == {"manage.py import_users"}
    with rival.active():
        assert list(User.objects.values_list("pk", "password")) == [(stays.pk, stays.password)]
    assert Entry.objects.filter(tenant_id=rival.tenant.pk).count() == before


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
