"""The second step of administrators: in the browser, by the API, and whatever could go around it."""

import base64
import re
from datetime import timedelta
from io import StringIO

import httpx
import pytest
import time_machine
from django.conf import settings as configured
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from identity.encryption import columns, keyring
from identity.limits import rules
from identity.limits.rules import Lock
from management.administrators import second_step, services
from management.administrators.models import Administrator, RecoveryCode
from tests.support import authenticator, management, operators
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, administrator, text_of
from tests.support.two_step_page import CODE, LOGIN, PAGE, again, codes_on, is_in, key_on, set_up


def written(operator, key):
    entries = Entry.objects.filter(key=key, payload__username=operator.who.username)
    return [entry.payload for entry in entries.order_by("created_at", "id")]


class TestSettingUp:
    def test_asks_for_password_and_code_and_keeps_this_session_alone(self, acme, operator):
        elsewhere = operators.at(acme, operator.who)
        key = key_on(text_of(operator.get(PAGE)))

        wrong_password = operator.submit(PAGE, password="wrong", code=authenticator.code(key))
        wrong_code = operator.submit(PAGE, password=PASSWORD, code="000000")
        done = operator.submit(PAGE, password=PASSWORD, code=authenticator.code(key))

        assert (wrong_password.status_code, wrong_code.status_code, done.status_code) == (401, 401, 303)
        page = done.headers["Location"]
        shown, reloaded = (codes_on(operator.get(page).text) for _ in range(2))
        assert len(set(shown)) == 10
        assert reloaded == shown
        assert codes_on(operator.get(PAGE).text) == []
        (button,) = re.findall(r'action="([^"]+/done/)"', operator.get(page).text)
        operator.submit(button, page=page)
        assert codes_on(operator.get(page).text) == []
        assert "no longer shown" in operator.get(page).text
        assert is_in(operator)
        assert not is_in(elsewhere)
        assert len(written(operator, "SecondStep.Create")) == 1

    def test_shows_no_key_before_a_proof(self, address):
        operator = Operator(administrator(), Client())
        operator.sign_in()
        with time_machine.travel(timezone.now() + timedelta(minutes=6)):
            shown = operator.get(PAGE)
            form = {"password": "wrong", "code": "000000"}
            sent = operator.submit(PAGE, page="/admin/tenant/", **form)

        for answer in (shown, sent):
            assert answer.headers["Location"] == "/admin/confirm/?next=%2Fadmin%2Ftwo-step%2F"
        assert "<dt>Key</dt>" not in text_of(shown) + text_of(sent)

    def test_makes_a_new_key_after_five_minutes(self, address):
        operator = Operator(administrator(), Client())
        operator.sign_in()
        first = key_on(text_of(operator.get(PAGE)))
        now = timezone.now()

        pages = []
        for minutes in (4, 6):
            with time_machine.travel(now + timedelta(minutes=minutes)):
                operator.submit(f"/admin/confirm/?next={PAGE}", password=PASSWORD)
                pages.append(text_of(operator.get(PAGE)))

        assert key_on(pages[0]) == first
        assert key_on(pages[1]) != first
        assert ["A new key is shown." in page for page in pages] == [False, True]

    def test_says_that_a_form_that_was_sent_late_has_a_new_key(self, address):
        operator = Operator(administrator(), Client())
        operator.sign_in()
        first = key_on(text_of(operator.get(PAGE)))
        now = timezone.now()
        with time_machine.travel(now + timedelta(minutes=4)):
            operator.submit(f"/admin/confirm/?next={PAGE}", password=PASSWORD)

        with time_machine.travel(now + timedelta(minutes=6)):
            late = operator.submit(
                PAGE, page="/admin/confirm/", password=PASSWORD, code=authenticator.code(first)
            )

        assert late.status_code == 401
        assert key_on(text_of(late)) != first
        assert "A new key is shown." in text_of(late)

    def test_shows_a_picture_that_the_policy_allows(self, operator):
        answer = operator.get(PAGE)

        assert '<img class="qr" src="data:image/svg+xml' in answer.text
        assert "img-src 'self' https: data:" in answer.headers["Content-Security-Policy"]
        assert "no-store" in answer.headers["Cache-Control"]

    def test_keeps_no_secret_in_clear(self, operator):
        key, codes = set_up(operator)
        row = Administrator.objects.get(pk=operator.who.pk)
        raw = base64.b32decode(key.replace(" ", ""))

        assert second_step.decrypt_secret(row, row.sealed_totp_secret) == raw
        with pytest.raises(keyring.UnknownKey):
            second_step.decrypt_secret(administrator(), row.sealed_totp_secret)
        stored = list(RecoveryCode.objects.filter(administrator=row).values_list("digest", flat=True))
        assert len(stored) == 10
        assert not [code for code in codes for digest in stored if code.replace("-", "") in digest]

    def test_ends_tokens_of_the_api(self, acme, operator):
        token = management.administrator_token(operator.who.username, PASSWORD, acme.address)
        assert management.Caller(acme, token).get("/users").status_code == 200

        set_up(operator)

        assert management.Caller(acme, token).get("/users").status_code == 401


class TestSigningIn:
    def test_takes_two_steps_and_writes_down_how(self, operator):
        key, _ = set_up(operator)
        other = again(operator)
        assert not is_in(other)

        answer = other.submit(CODE, code=authenticator.code(key, 1))

        assert answer.status_code == 303
        assert is_in(other)
        assert written(operator, "Admin.SignIn")[-1]["second_step"] == "totp"
        proven = [entry["result"] for entry in written(operator, "Admin.VerifyPassword")]
        assert proven == ["success", "success"]  # to set it up, and just now

    def test_leads_where_it_was_going_and_to_no_other_site(self, operator):
        _, codes = set_up(operator)
        other = again(operator)

        answer = other.submit(f"{CODE}?next=https://evil.example/", code=codes[0])

        assert answer.headers["Location"] == "/admin/"

    def test_a_code_counts_once(self, operator):
        key, _ = set_up(operator)
        code = authenticator.code(key, 1)
        again(operator).submit(CODE, code=code)

        answer = again(operator).submit(CODE, code=code)

        assert answer.status_code == 401
        assert "The code is wrong, or was used before." in answer.text
        assert written(operator, "Admin.SignIn")[-1]["error"] == "invalid_second_step"

    def test_a_recovery_code_counts_once(self, operator):
        _, codes = set_up(operator)
        first, second = again(operator), again(operator)

        assert first.submit(CODE, code=codes[3].lower().replace("-", " ")).status_code == 303
        assert second.submit(CODE, code=codes[3]).status_code == 401
        assert len(written(operator, "RecoveryCode.Use")) == 1
        assert "Recovery codes left: 9." in first.get(PAGE).text

    @pytest.mark.parametrize("code", ["", "000000", "\u0660" * 6, "x" * 65, "\0", "A" * 16, "-"])
    def test_refuses_what_is_no_code(self, operator, code):
        set_up(operator)
        other = again(operator)

        assert other.submit(CODE, code=code).status_code in {400, 401}
        assert not is_in(other)

    def test_the_page_is_nothing_without_the_first_step(self, address, operator):
        set_up(operator)

        assert httpx.get(f"{address}{CODE}").headers["Location"] == LOGIN

    def test_the_first_step_counts_for_nothing_once_the_password_is_another(self, operator):
        set_up(operator)
        other = again(operator)
        with tenancy.using(tenancy.DEFAULT):
            services.change(Administrator.objects.get(pk=operator.who.pk), {"password": "something else 1"})

        assert other.get(CODE).headers["Location"] == LOGIN

    def test_wrong_codes_lock_wherever_they_come_from_and_a_right_password_clears_nothing(
        self, operator, monkeypatch
    ):
        _, codes = set_up(operator)
        monkeypatch.setattr(rules, "SECOND_STEP", Lock("second step", 3, 900))
        answers = []
        for number, code in enumerate(["000000", "111111", "222222", codes[0]]):
            client = Client(REMOTE_ADDR=f"192.0.2.{number}")
            client.post(LOGIN, {"username": operator.who.username, "password": PASSWORD})
            answers.append(client.post(CODE, {"code": code}))

        assert [answer.status_code for answer in answers] == [401] * 4
        assert int(answers[-1]["Retry-After"]) > 0
        assert written(operator, "Admin.SignIn")[-1]["error"] == "second_step_locked"
        assert RecoveryCode.objects.filter(administrator=operator.who).count() == 10


class TestTheApi:
    def sign_in(self, operator, **more):
        body = {"username": operator.who.username, "password": PASSWORD, **more}
        return httpx.post(f"{configured.BASE_URL}/api/admin/sign-in", json=body)

    def test_gives_no_token_for_the_password_alone(self, operator):
        _, codes = set_up(operator)

        alone = self.sign_in(operator)
        wrong = self.sign_in(operator, code="000000")
        right = self.sign_in(operator, code=codes[0])

        assert (alone.status_code, wrong.status_code, right.status_code) == (401, 401, 200)
        assert "access_token" not in alone.text
        errors = [entry.get("error") for entry in written(operator, "Admin.SignIn")[-3:]]
        assert errors == ["second_step_needed", "invalid_second_step", None]

    def test_a_wrong_password_is_told_as_ever(self, operator):
        _, codes = set_up(operator)

        answer = self.sign_in(operator, password="wrong", code=codes[0])

        assert answer.json()["message"] == "the username or the password is wrong"
        assert RecoveryCode.objects.filter(administrator=operator.who).count() == 10

    def test_a_code_of_whoever_has_no_second_step_is_looked_at_by_nobody(self, operator):
        assert self.sign_in(operator, code="000000").status_code == 200


class TestRemoving:
    def test_asks_for_password_and_code(self, operator):
        _, codes = set_up(operator)
        path = f"{PAGE}remove/"

        assert operator.submit(path, password="wrong", code=codes[0]).status_code == 401
        assert operator.submit(path, password=PASSWORD, code="000000").status_code == 401
        assert operator.submit(path, password=PASSWORD, code=codes[1]).status_code == 303
        assert Operator(operator.who).sign_in().headers["Location"] == "/admin/"
        assert is_in(operator)
        assert len(written(operator, "SecondStep.Delete")) == 1
        assert not RecoveryCode.objects.filter(administrator=operator.who).exists()

    def test_new_recovery_codes_end_those_before(self, operator):
        _, codes = set_up(operator)

        sent = operator.submit(f"{PAGE}codes/", password=PASSWORD, code=codes[0])
        answer = operator.get(sent.headers["Location"])

        assert len(codes_on(answer.text)) == 10
        assert again(operator).submit(CODE, code=codes[1]).status_code == 401
        assert again(operator).submit(CODE, code=codes_on(answer.text)[1]).status_code == 303

    @pytest.mark.parametrize("path", [f"{PAGE}remove/", f"{PAGE}codes/"])
    def test_there_is_nothing_to_remove_before(self, operator, path):
        assert operator.get(path).headers["Location"] == PAGE

    def test_another_administrator_removes_it_and_nobody_the_own(self, acme, operator):
        set_up(operator)
        path = f"/admin/administrators/administrator/{operator.who.pk}/do/second-step/"
        auditor = operators.at(acme, administrator(role="auditor", is_superuser=True))

        own, others = operator.submit(path, current_password=PASSWORD), auditor.get(path)
        done = operators.at(acme).submit(path, current_password=PASSWORD)

        assert (own.status_code, others.status_code, done.status_code) == (400, 403, 303)
        assert not is_in(operator)
        assert Operator(operator.who).sign_in().headers["Location"] == "/admin/"

    def test_the_command_lets_the_last_one_in(self, operator):
        set_up(operator)
        said = StringIO()

        call_command("reset_second_step", operator.who.username, stdout=said)

        assert "now signs in with the password alone" in said.getvalue()
        assert Operator(operator.who).sign_in().headers["Location"] == "/admin/"
        for name in (operator.who.username, "nobody"):
            with pytest.raises(CommandError):
                call_command("reset_second_step", name)


class TestRequired:
    @pytest.fixture(autouse=True)
    def required(self, settings):
        settings.ADMIN_TWO_STEP = "required"

    def test_whoever_has_none_sets_it_up_first(self, acme):
        operator = Operator(administrator(tenants=[acme.tenant.slug]), Client())
        assert operator.sign_in()["Location"] == "/admin/"

        for path in ("/admin/", "/admin/tenant/", "/admin/users/user/", "/admin/password/", "/admin/why/"):
            assert operator.get(path)["Location"] == PAGE
        with time_machine.travel(timezone.now() + timedelta(minutes=6)):
            assert operator.get(PAGE)["Location"].startswith("/admin/confirm/")
            assert operator.submit(f"/admin/confirm/?next={PAGE}", password=PASSWORD)["Location"] == PAGE
            set_up(operator)

            assert operator.get("/admin/").status_code == 200

    def test_the_api_gives_none_of_them_a_token_and_takes_none_from_before(self, acme, settings):
        who, client = administrator(), Client()
        body = {"username": who.username, "password": PASSWORD}
        settings.ADMIN_TWO_STEP = "optional"
        token = client.post("/api/admin/sign-in", body, "application/json").json()["result"]["access_token"]
        settings.ADMIN_TWO_STEP = "required"

        refused = client.post("/api/admin/sign-in", body, "application/json")
        outlived = client.get("/api/admin/me", headers={"Authorization": f"Bearer {token}"})

        assert (refused.status_code, outlived.status_code) == (403, 401)
        assert "set it up" in refused.json()["message"]


def test_signing_out_is_written_down_and_needs_no_tenant(acme, rival):
    operator = Operator(administrator())
    operator.sign_in()

    operator.submit("/admin/logout/", page="/admin/tenant/")

    assert not is_in(operator)
    assert len(written(operator, "Admin.SignOut")) == 1


def test_secrets_move_to_the_newest_encryption_key(operator, settings):
    key, _ = set_up(operator)
    kinds = {kind.name: kind for kind in columns.get_columns()}
    settings.ENCRYPTION_KEYS = {"11111111": b"x" * 32, **settings.ENCRYPTION_KEYS}

    assert sum(batch.undecryptable for batch in columns.reencrypt(kinds["second_steps"])) == 0

    row = Administrator.objects.get(pk=operator.who.pk)
    assert row.sealed_totp_secret.startswith("11111111.")
    assert second_step.decrypt_secret(row, row.sealed_totp_secret) == base64.b32decode(key.replace(" ", ""))
    assert columns.count_outdated(kinds["recovery_codes"]) >= 10
    second_step.remove(row)  # nobody else opens what this key sealed
