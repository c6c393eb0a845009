"""Lines of docs/standards.md about second factors: of NIST SP 800-63B-4, and of RFC 4226."""

import base64
import hashlib
import json
import secrets

import pytest
from django.db import connection

from identity.factors import recovery
from identity.factors.models import BackupCode, RecoveryGrant
from identity.users.models import User
from tests.support import codes, factors, management
from tests.support.factors import NEXT, SEND, TOTP, App, enrol, give_backup_codes, half, has_session
from tests.support.imports import run
from tests.support.independent import claims_of
from tests.support.management import refusal_of, result_of

EMAIL = "EmailVerificationCode"


def read_everything():
    """Every value of every table, as text: what somebody with a copy of the database has."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - our own names
            found += [str(value) for row in cursor.fetchall() for value in row]
    return " ".join(found).lower()


def spell(code):
    """A code as it is shown, without its dashes, and as the bytes that it stands for."""
    compact = code.replace("-", "")
    raw = base64.b32decode(compact)
    return {code.lower(), compact.lower(), raw.hex(), base64.b64encode(raw).decode().lower()}


class TestLookUpSecrets:
    """Section 3.1.2: random, stored as a hash, used once."""

    @pytest.fixture
    def shown(self, acme):
        """The backup codes of a user, and a recovery code."""
        factors.switch_on(acme)
        user = acme.user()
        enrol(acme, user)
        spare = give_backup_codes(acme, user)
        with acme.active():
            return [*spare, recovery.issue(user)[0]]

    def test_decision_M32_each_has_80_bits_and_none_is_like_another(self, shown):
        raw = [base64.b32decode(code.replace("-", "")) for code in shown]

        assert {len(secret) for secret in raw} == {10}
        assert len({secret[:4] for secret in raw}) == len(raw)  # 32 bits of a random secret do not repeat

    def test_decision_M32_the_database_has_none_of_them(self, shown):
        everything = read_everything()

        assert [code for code in shown if any(form in everything for form in spell(code))] == []

    def test_decision_M32_what_is_stored_is_a_hash_with_a_key(self, acme, shown):
        with acme.active():
            stored = [*BackupCode.objects.values_list("digest", flat=True)]
            stored += RecoveryGrant.objects.values_list("digest", flat=True)
        digests = [digest.rpartition(".")[2] for digest in stored]

        assert {len(bytes.fromhex(digest)) for digest in digests} == {32}
        assert len(set(digests)) == len(shown)
        forms = {form for code in shown for form in (code, code.replace("-", ""))}
        plain = {hashlib.sha256(form.encode()).hexdigest() for form in forms}
        assert plain.isdisjoint(digests)


class TestImportedSecrets:
    """RFC 4226 section 4, R6: 128 bits. A secret of another system may have 80, and no fewer."""

    SHORTEST = 16  # characters of base32, each of 5 bits

    @pytest.fixture
    def secret(self):
        return base64.b32encode(secrets.token_bytes(10)).decode()

    def test_one_of_80_bits_that_the_api_stores_completes_a_sign_in(self, acme, secret):
        factors.switch_on(acme)
        admin, user, browser = management.superuser(acme), acme.user(), acme.browser()

        made = result_of(admin.post(f"/users/{user.pk}/mfa-verifications", type="Totp", secret=secret))
        half(browser, user)
        answer = browser.post(TOTP, json={"code": App(secret).code()})

        assert (len(secret), made["secret"]) == (self.SHORTEST, secret)
        assert has_session(answer), answer.text

    def test_one_of_80_bits_in_a_file_completes_a_sign_in(self, acme, tmp_path, secret):
        factors.switch_on(acme, "Totp")
        known = acme.user()
        path = tmp_path / "people.jsonl"
        path.write_text(
            json.dumps({"username": "ada", "password_hash": known.password, "totp_secret": secret})
        )

        assert run(acme, path).summary["imported"] == 1
        with acme.active():
            ada = User.objects.get(username="ada")
        browser = acme.browser()
        half(browser, ada)

        assert has_session(browser.post(TOTP, json={"code": App(secret).code()}))

    def test_one_of_75_bits_is_refused(self, acme, tmp_path, secret):
        factors.switch_on(acme)
        admin, user = management.superuser(acme), acme.user()
        path = tmp_path / "people.jsonl"
        path.write_text(json.dumps({"username": "ada", "totp_secret": secret[:15]}))

        answer = admin.post(f"/users/{user.pk}/mfa-verifications", type="Totp", secret=secret[:15])

        assert "secret" in refusal_of(answer, 400)
        assert run(acme, path).summary["refused"] == 1


class TestEmail:
    """Section 3.1.3: email is no out-of-band authenticator."""

    @pytest.fixture
    def user(self, acme):
        codes.reachable(acme)
        return acme.user(email=codes.new_email(), email_verified=True)

    def test_decision_M16_a_new_tenant_does_not_have_it(self, acme, user):
        admin = management.superuser(acme)

        assert result_of(admin.get("/sign-in-experience"))["mfa"]["factors"] == []
        assert has_session(acme.browser().sign_in(user))

    def test_decision_M34_a_tenant_that_leaves_it_out_sends_no_code(self, acme, user):
        factors.switch_on(acme, "Totp", "BackupCode")
        enrol(acme, user)
        browser = acme.browser()
        first = half(browser, user)

        answer = browser.post(SEND, json={"type": EMAIL})

        assert [method["type"] for method in first["next"]["methods"]] == ["Totp"]
        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert answer.json()["message"].startswith("type: the user does not have this factor")
        assert codes.messages_to(user.email) == []

    def test_decision_M16_it_cannot_be_all_that_a_tenant_requires(self, acme, user):
        admin = management.superuser(acme)
        policy = {"factors": [EMAIL], "policy": "Mandatory"}

        answer = admin.patch("/sign-in-experience", mfa=policy)

        assert "Totp or WebAuthn" in refusal_of(answer, 400)

    def test_decision_M5_an_application_sees_that_the_second_factor_was_a_code(self, acme, user):
        factors.switch_on(acme, EMAIL)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        client, browser = acme.application(), acme.browser()
        half(browser, user)
        browser.post(SEND, json={"type": EMAIL})
        sent = codes.message_to(user.email)["code"]
        browser.post(factors.VERIFY, json={"type": EMAIL, "code": sent})
        assert browser.get(NEXT).json()["result"]["step"] == "done"

        told = claims_of(client.tokens_for(user, browser, acr_values="phr")["id_token"])

        # Phishing gets a code by email, so the sign-in does not reach the level that resists it.
        assert (told["acr"], told["amr"]) == ("urn:service:acr:2fa", ["pwd", "otp", "mfa"])
