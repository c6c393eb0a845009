"""``manage.py import_users`` with authenticators: people keep the app that they have."""

import base64
import csv
import json

import pytest

from audit.models import Entry
from identity.factors.models import Authenticator
from identity.users import assigned_passwords
from identity.users.factor_bits import AUTHENTICATOR
from identity.users.models import User
from tests.support import authenticator, factors
from tests.support.imports import PASSWORD, run

KEYCLOAK = ("keycloak-otp.json", "--format", "keycloak")
# Keycloak's 20 characters are the key itself; the second secret says that it is base32.
PHONE = base64.b32encode(b"WzBBcjmiCU7rqTBIRhd3").decode()
OTHER = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"


def find(world, username):
    with world.active():
        return User.objects.get(username=username)


def stored(world, user):
    with world.active():
        return list(Authenticator.objects.filter(user=user).order_by("pk"))


def write(path, *rows):
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_decision_M55_keycloaks_authenticators_complete_a_sign_in(acme):
    factors.switch_on(acme, "Totp")

    ran = run(acme, *KEYCLOAK)

    assert (ran.summary["imported"], ran.summary["refused"]) == (2, 1)
    otto = find(acme, "otto")
    assert [row.name for row in stored(acme, otto)] == ["My phone", ""]
    assert (otto.two_step, otto.factors) == (True, AUTHENTICATOR)
    for key in (PHONE, OTHER):
        browser = acme.browser()
        half = browser.sign_in(otto, PASSWORD)
        assert not factors.has_session(half)
        answer = browser.post(factors.TOTP, json={"code": authenticator.code(key)})
        assert factors.has_session(answer), answer.text


def test_decision_M55_they_are_sealed_and_audited_without_the_secret(acme):
    run(acme, *KEYCLOAK)

    otto = find(acme, "otto")
    entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Mfa.Create", user_id=str(otto.pk))
    assert sorted(entry.payload["name"] for entry in entries) == ["", "My phone"]
    kept = " ".join(row.sealed_secret for row in stored(acme, otto)) + repr(
        list(Entry.objects.filter(tenant_id=acme.tenant.pk).values_list("payload", flat=True))
    )
    assert not [secret for secret in ("WzBBcjmiCU7rqTBIRhd3", PHONE, OTHER) if secret in kept]


def test_decision_M55_whoever_has_none_is_not_asked_for_one(acme):
    run(acme, *KEYCLOAK)

    paula = find(acme, "paula")
    assert (paula.two_step, paula.factors) == (False, 0)


def test_decision_M55_codes_that_would_differ_here_refuse_the_user(acme, tmp_path):
    report = tmp_path / "bad.jsonl"

    ran = run(acme, *KEYCLOAK, report=report)

    [refused] = ran.report
    assert (refused["id"], refused["field"]) == ("9b1d0a6e-92a1-4f25-8f4e-0a4f5a0e0002", "totp_secret")
    assert refused["rule"] == "must be time-based, with six digits, 30 seconds and SHA-1"
    assert "aaaa" not in report.read_text()


@pytest.mark.parametrize(
    "changed",
    [
        {"digits": 8},
        {"period": 60},
        {"algorithm": "HmacSHA256"},
        {"subType": None},
        {"secretEncoding": "HEX"},
    ],
)
def test_other_parameters_of_keycloak_refuse_the_user(acme, tmp_path, changed):
    facts = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1"} | changed
    otp = {
        "type": "otp",
        "credentialData": json.dumps(facts),
        "secretData": json.dumps({"value": "WzBBcjmiCU7rqTBIRhd3"}),
    }
    path = tmp_path / "realm.json"
    path.write_text(json.dumps({"users": [{"id": "1", "username": "una", "credentials": [otp]}]}))

    assert run(acme, path, "--format", "keycloak").summary["refused"] == 1


def test_decision_M55_a_column_has_the_secret_in_base32(acme, tmp_path):
    rows = [
        {"username": "cora", "totp_secret": "gezd gnbv gy3t qojq"},
        {"username": "carl", "totp_secret": ""},
        {"username": "cleo", "totp_secret": None},
    ]

    ran = run(acme, write(tmp_path / "people.jsonl", *rows))

    assert ran.summary["imported"] == 3
    assert find(acme, "cora").two_step
    assert len(stored(acme, find(acme, "cora"))) == 1
    assert [find(acme, name).two_step for name in ("carl", "cleo")] == [False, False]


@pytest.mark.parametrize("secret", ["GEZDGNBVGY3TQOJ", "A" * 65, "1" * 32, "not base32 at all!", 17, ["x"]])
def test_a_secret_that_breaks_the_rule_refuses_its_row(acme, tmp_path, secret):
    report = tmp_path / "bad.jsonl"

    ran = run(
        acme, write(tmp_path / "people.jsonl", {"username": "cora", "totp_secret": secret}), report=report
    )

    assert [(row["field"], row["rule"]) for row in ran.report] == [
        ("totp_secret", "must be base32, 16 to 64 characters")
    ]
    with acme.active():
        assert not User.objects.exists()


def test_a_user_who_is_refused_leaves_no_authenticator(acme, tmp_path):
    acme.user("cora")

    ran = run(acme, write(tmp_path / "people.jsonl", {"username": "cora", "totp_secret": OTHER}))

    assert ran.summary["refused"] == 1
    with acme.active():
        assert not Authenticator.objects.exists()


def test_a_dry_run_stores_nothing_and_checks_the_secrets(acme):
    ran = run(acme, *KEYCLOAK, "--dry-run")

    assert (ran.summary["imported"], ran.summary["refused"]) == (2, 1)
    with acme.active():
        assert not Authenticator.objects.exists()


# Items of Logto's column ``mfa_verifications``.
APP = {"id": "a", "type": "Totp", "key": OTHER, "createdAt": "2024-01-02T03:04:05.678Z"}
BACKUP = {"id": "b", "type": "BackupCode", "codes": [{"code": "2c8a4a9c58"}]}
PASSKEY = {"id": "c", "type": "WebAuthn", "credentialId": "x", "publicKey": "y", "counter": 0, "agent": "z"}


class TestLogto:
    """The column is JSON in an export as JSON, and its text in an export as CSV."""

    def write(self, folder, *verifications, as_csv=False):
        """Write users, who are numbered, each with its verifications."""
        rows = [
            {"id": f"id{n}", "username": f"user{n}", "mfa_verifications": each}
            for n, each in enumerate(verifications)
        ]
        path = folder / "users"
        if not as_csv:
            return write(path, *rows)
        with path.open("w", newline="") as file:
            written = csv.DictWriter(file, rows[0])
            written.writeheader()
            written.writerows(
                row | {"mfa_verifications": json.dumps(row["mfa_verifications"])} for row in rows
            )
        return path

    @pytest.mark.parametrize("as_csv", [False, True])
    def test_decision_M55_its_authenticators_complete_a_sign_in(self, acme, tmp_path, as_csv):
        factors.switch_on(acme, "Totp")
        path = self.write(tmp_path, [BACKUP, APP, PASSKEY], [], as_csv=as_csv)

        ran = run(acme, path, "--format", "logto")

        assert (ran.summary["imported"], ran.summary["refused"]) == (2, 0)
        una = find(acme, "user0")
        assert (una.two_step, una.factors) == (True, AUTHENTICATOR)
        assert [row.name for row in stored(acme, una)] == [""]
        assert (find(acme, "user1").two_step, find(acme, "user1").factors) == (False, 0)
        with acme.active():
            assigned_passwords.set_password(una, PASSWORD, is_proven=True)
        browser = acme.browser()
        half = browser.sign_in(una, PASSWORD)
        assert not factors.has_session(half)
        answer = browser.post(factors.TOTP, json={"code": authenticator.code(OTHER)})
        assert factors.has_session(answer), answer.text

    @pytest.mark.parametrize("left", [None, "", "[]", [BACKUP], [PASSKEY]])
    def test_whoever_has_no_app_is_imported_without_one(self, acme, tmp_path, left):
        run(acme, self.write(tmp_path, left), "--format", "logto")

        assert (find(acme, "user0").two_step, find(acme, "user0").factors) == (False, 0)

    @pytest.mark.parametrize(
        ("broken", "rule"),
        [
            ([APP | {"key": "too short"}], "must be base32, 16 to 64 characters"),
            ([{"type": "Totp"}], "must be base32, 16 to 64 characters"),
            ([APP | {"key": 17}], "must be base32, 16 to 64 characters"),
            ("[{", "must be JSON"),
            ({"type": "Totp"}, "must be JSON"),
            (["Totp"], "must be JSON"),
            (17, "must be JSON"),
            (
                [APP | {"key": OTHER[:-1] + letter} for letter in "ABCDEF"],
                "there are more than 5 authenticators",
            ),
        ],
    )
    def test_decision_M55_one_that_cannot_be_read_refuses_the_user(self, acme, tmp_path, broken, rule):
        report = tmp_path / "bad.jsonl"

        ran = run(acme, self.write(tmp_path, broken), "--format", "logto", report=report)

        assert [(row["field"], row["rule"]) for row in ran.report] == [("totp_secret", rule)]
        assert OTHER[:-1] not in report.read_text()
        with acme.active():
            assert not User.objects.exists()
