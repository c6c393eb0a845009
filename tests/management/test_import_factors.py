"""``manage.py import_users`` with authenticators: people keep the app that they have."""

import base64
import json

import pytest

from audit.models import Entry
from identity.factors.models import Authenticator
from identity.users.factor_bits import AUTHENTICATOR
from identity.users.models import User
from tests.management.test_import_users import PASSWORD, run
from tests.support import authenticator, factors

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
