"""The query and the program of docs/migration/authentik.md, with what they make imported."""

import json
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from identity.factors.models import Authenticator
from identity.users.models import User
from tests.support import authenticator, factors
from tests.support.cast import PASSWORD
from tests.support.imports import run

EXAMPLES = settings.BASE_DIR / "docs/examples/migration"
KEY = "3132333435363738393031323334353637383930"
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
# Its models of users and of TOTP devices, as far as they matter here.
TABLES = """
CREATE TEMPORARY TABLE authentik_core_user (
    id serial PRIMARY KEY, uuid uuid NOT NULL DEFAULT gen_random_uuid(), username varchar(150) NOT NULL,
    email varchar(254) NOT NULL, name text NOT NULL, password varchar(128) NOT NULL,
    is_active boolean NOT NULL, date_joined timestamptz NOT NULL, attributes jsonb NOT NULL,
    type text NOT NULL
);
CREATE TEMPORARY TABLE authentik_stages_authenticator_totp_totpdevice (
    id serial PRIMARY KEY, user_id integer NOT NULL, name varchar(64) NOT NULL, confirmed boolean NOT NULL,
    key varchar(80) NOT NULL, digits smallint NOT NULL, step smallint NOT NULL
);
"""
HEADING = "uuid,username,email,name,password,is_active,date_joined,attributes,apps"


def convert(exported):
    """Run the program, and return the users it wrote and what it said."""
    ran = subprocess.run(
        [sys.executable, EXAMPLES / "authentik.py"],
        input=exported,
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()], ran.stderr


def app(digits=6, step=30, key=KEY):
    return {"key": key, "digits": digits, "step": step}


def row(username="ada", apps=(), **fields):
    """A line of the export."""
    values = {
        "uuid": "0c6b9d8e-5a4f-4b7e-8a3c-2d1e0f9a8b7c",
        "username": username,
        "email": f"{username.partition('@')[0]}@example.com",
        "name": "Ada",
        "password": "",
        "is_active": "t",
        "date_joined": "2024-05-06 07:08:09.123456+00",
        "attributes": "{}",
        "apps": json.dumps(apps) if apps else "",
    } | fields
    quoted = ",".join('"{}"'.format(values[name].replace('"', '""')) for name in HEADING.split(","))
    return f"{HEADING}\n{quoted}\n"


def test_a_user_signs_in_with_the_password_and_the_app(acme, tmp_path):
    factors.switch_on(acme, "Totp")
    hashed = acme.user("known").password
    users, said = convert(row(apps=[app()], password=hashed, attributes='{"team": "blue"}'))
    path = tmp_path / "users.jsonl"
    path.write_text("\n".join(map(json.dumps, users)))

    ran = run(acme, path, "--source", "authentik")

    assert (ran.summary["imported"], said) == (1, "")
    with acme.active():
        ada = User.objects.get(username="ada")
    assert (ada.two_step, ada.email_verified, ada.created_at.year) == (True, False, 2024)
    assert ada.custom_data["team"] == "blue"
    assert ada.custom_data["imported"] == {"from": "authentik", "id": "0c6b9d8e-5a4f-4b7e-8a3c-2d1e0f9a8b7c"}
    browser = acme.browser()
    factors.half(browser, ada, password=PASSWORD)
    assert factors.has_session(browser.post(factors.TOTP, json={"code": authenticator.code(SECRET)}))


def test_a_user_whose_codes_differ_here_is_left_out_and_named():
    users, said = convert(row(apps=[app(digits=8), app(step=60)]))

    assert users == []
    assert said == "left out: ada has no app with six digits and 30 seconds\n"


def test_of_several_apps_the_newest_that_works_here_is_taken():
    users, said = convert(row(apps=[app(digits=8, key="00" * 20), app(), app(key="11" * 20)]))

    assert [user["totp_secret"] for user in users] == [SECRET]
    assert said == "ada has 3 apps, of which one is imported\n"


@pytest.mark.parametrize(
    ("fields", "imported"),
    [
        ({"is_active": "f"}, {"is_suspended": True}),
        ({"password": "!unusable"}, {"password_hash": ""}),
        ({"username": "ada@example.com"}, {"email": "ada@example.com"}),
        (
            {"username": "ada@example.com", "email": ""},
            {"email": "ada@example.com", "email_verified": False},
        ),
        ({}, {"username": "ada", "totp_secret": "", "is_suspended": False}),
    ],
)
def test_fields_become_those_of_an_import(fields, imported):
    [user], _said = convert(row(**fields))

    assert user | imported == user


@pytest.mark.skipif(connection.vendor != "postgresql", reason="authentik runs on PostgreSQL")
def test_the_query_exports_people_with_their_apps_and_no_services(acme, tmp_path):
    query = (EXAMPLES / "authentik.sql").read_text().rstrip().rstrip(";")
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        for username, kind in (("ada", "internal"), ("ben", "external"), ("outpost", "service_account")):
            cursor.execute(
                "INSERT INTO authentik_core_user"
                " (username, email, name, password, is_active, date_joined, attributes, type)"
                " VALUES (%s, %s, 'Someone', '', true, now(), '{\"a\": 1}', %s)",
                [username, f"{username}@example.com", kind],
            )
        cursor.executemany(
            "INSERT INTO authentik_stages_authenticator_totp_totpdevice"
            " (user_id, name, confirmed, key, digits, step) VALUES (%s, %s, %s, %s, 6, 30)",
            [(1, "old", True, "11" * 20), (1, "new", True, KEY), (2, "unfinished", False, KEY)],
        )
        with cursor.copy(query) as copied:
            exported = b"".join(map(bytes, copied)).decode()
        cursor.execute("DROP TABLE authentik_core_user, authentik_stages_authenticator_totp_totpdevice")

    users, said = convert(exported)
    path = tmp_path / "users.jsonl"
    path.write_text("\n".join(map(json.dumps, users)))
    ran = run(acme, path)

    assert [(user["username"], user["totp_secret"]) for user in users] == [("ada", SECRET), ("ben", "")]
    assert said == "ada has 2 apps, of which one is imported\n"
    assert ran.summary["imported"] == 2
    with acme.active():
        assert Authenticator.objects.count() == 1
