"""Passkeys of administrators: adding, renaming and removing them, by oneself and by others."""

import base64
from datetime import timedelta

import pytest
import time_machine
from django.core import mail as django_mail
from django.db import IntegrityError, transaction
from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from identity.factors import totp
from management.administrators import mail, passkeys, recovery, second_step, services, session_check
from management.administrators.models import Administrator, AdministratorPasskey
from tests.support import authenticator, operators
from tests.support import passkeys as users_passkeys
from tests.support.admin_pages import is_sign_in
from tests.support.administrator_passkeys import (
    NEW,
    OWN,
    STORE,
    add,
    ask,
    browser_of,
    enrol,
    post,
    prove,
    sign_in,
)
from tests.support.cast import PASSWORD
from tests.support.operators import text_of

OPTIONS = f"{NEW}options/"
NEW_PASSWORD = "a new and better password"


@pytest.fixture(autouse=True)
def host(settings):
    """Browsers offer no passkeys at an IP address."""
    settings.BASE_URL, settings.WEBAUTHN_RP_ID = "http://localhost", "localhost"
    settings.EMAIL_HOST = "mail.example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    django_mail.outbox = []


def signed_in():
    operator = browser_of(operators.administrator(email="ada@example.com"))
    Administrator.objects.filter(pk=operator.who.pk).update(proven_email="ada@example.com")
    assert operator.sign_in().status_code == 303
    return operator


@pytest.fixture
def operator(address):
    return signed_in()


@pytest.fixture
def device():
    return users_passkeys.device()


@pytest.fixture
def enrolled(operator, device):
    enrol(operator, device)
    return operator


def rows(who):
    return list(AdministratorPasskey.objects.filter(administrator=who).order_by("created_at"))


def written(who, key):
    entries = Entry.objects.filter(key=key, payload__username=who.username)
    return [entry.payload for entry in entries.order_by("created_at", "id")]


def sent():
    """The mails that were sent, when the thread that sends them is done."""
    mail.EXECUTOR.submit(lambda: None).result()
    return [(message.to, message.subject) for message in django_mail.outbox]


def is_in(operator):
    return operator.get("/admin/tenant/").status_code == 200


class TestAdding:
    def test_stores_the_passkey_and_sends_a_notice(self, operator, device):
        enrol(operator, device, name=" My   phone ")

        [passkey] = rows(operator.who)
        assert (passkey.name, passkey.rp_id, passkey.verifies_user) == ("My phone", "localhost", True)
        assert device.keys[-1].user_handle == base64.urlsafe_b64decode(passkey.user_handle + "=")
        assert len(device.keys[-1].user_handle) == 32
        [entry] = written(operator.who, "AdministratorPasskey.Create")
        assert (entry["id"], entry["name"]) == (str(passkey.pk), "My phone")
        assert sent()[-1] == (
            ["ada@example.com"],
            "A passkey was added to your account at Gatehouse at localhost",
        )
        assert "My phone" in text_of(operator.get(OWN))

    def test_all_passkeys_have_the_same_user_handle_and_none_is_created_twice(self, enrolled, device):
        prove(enrolled)
        options = ask(enrolled, OPTIONS, NEW)
        other = users_passkeys.device()
        add(enrolled, other)

        first, second = rows(enrolled.who)
        assert first.user_handle == second.user_handle
        assert [one["id"] for one in options["excludeCredentials"]] == [first.credential_id]

    def test_handles_of_administrators_differ(self, enrolled):
        other = signed_in()
        enrol(other, users_passkeys.device())

        assert rows(other.who)[0].user_handle != rows(enrolled.who)[0].user_handle

    @pytest.mark.parametrize(
        ("name", "status"),
        [("a\0b", 400), ("\U0001f469\u200d\U0001f4bb", 200), ("\u06a9\u0644\u06cc\u062f", 200)],
    )
    def test_its_name_may_have_any_sign_but_a_nul(self, operator, device, name, status):
        prove(operator)

        answer = add(operator, device, name)

        assert answer.status_code == status, text_of(answer)
        assert [row.name for row in rows(operator.who)] == ([name] if status == 200 else [])

    def test_needs_the_password_before_anything_else(self, operator, device):
        refused = prove(operator, password="wrong")
        options = post(operator, OPTIONS, {}, OWN)
        stored = post(operator, STORE, {"credential": {}}, OWN)

        assert (refused.status_code, options.status_code, stored.status_code) == (401, 403, 403)
        assert rows(operator.who) == []

    def test_needs_the_code_of_a_second_step_too(self, operator, device):
        secret = totp.new_secret()
        key = base64.b32encode(secret).decode()
        second_step.set_up(operator.who, secret=secret, code=authenticator.code(key))
        browser = browser_of(operator.who)
        browser.sign_in()
        browser.submit("/admin/login/code/", code=authenticator.code(key, 1))

        assert prove(browser).status_code == 400
        assert prove(browser, code="000000").status_code == 401

    def test_the_password_counts_for_one_passkey_and_five_minutes(self, operator, device):
        prove(operator)
        assert add(operator, device).status_code == 200
        assert post(operator, OPTIONS, {}, OWN).status_code == 403

        prove(operator)
        with time_machine.travel(timezone.now() + timedelta(minutes=6)):
            assert post(operator, OPTIONS, {}, OWN).status_code == 403

    def test_MT7_nobody_adds_one_without_a_session(self, operator):
        visitor = browser_of(operator.who)

        for path in (OWN, NEW):
            assert is_sign_in(visitor.get(path))
        for path in (OPTIONS, STORE):
            assert is_sign_in(post(visitor, path, {}))

    @pytest.mark.parametrize(
        "wrong",
        [{"origin": "https://evil.example"}, {"flags": 0x59}, {"rp_id": "evil.example"}, {"algorithm": -47}],
    )
    def test_makes_the_checks_of_users_passkeys(self, operator, device, wrong):
        prove(operator)

        answer = add(operator, device, **wrong)

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "passkey_refused"})
        assert rows(operator.who) == []

    def test_MT8_a_challenge_of_another_administrator_is_refused(self, operator, device):
        other = signed_in()
        prove(operator)
        prove(other)
        credential = device.create(ask(other, OPTIONS, NEW))

        answer = post(operator, STORE, {"credential": credential}, NEW)

        assert answer.status_code == 401

    def test_MT24_a_credential_that_another_administrator_has_is_refused(self, enrolled, device):
        other = signed_in()
        prove(other)

        answer = add(other, users_passkeys.device(), credential_id=device.keys[-1].id)

        assert (answer.status_code, answer.json()["result"]) == (400, {"reason": "already_enrolled"})

    def test_at_most_twenty(self, enrolled, monkeypatch):
        monkeypatch.setattr("identity.factors.passkeys.MOST", 1)
        prove(enrolled)

        answer = add(enrolled, users_passkeys.device())

        assert (answer.status_code, answer.json()["result"]) == (400, {"reason": "too_many_factors"})

    @pytest.mark.parametrize("name", [1, None, "x" * 65])
    def test_a_name_that_breaks_a_rule_is_refused(self, operator, device, name):
        prove(operator)

        assert add(operator, device, name).status_code == 400

    def test_a_change_that_ended_the_session_wins(self, enrolled):
        stale = Administrator.objects.get(pk=enrolled.who.pk)
        Administrator.objects.filter(pk=stale.pk).update(role="auditor")
        device, handle = users_passkeys.device(), passkeys.new_handle(stale)
        options = passkeys.get_creation_options(stale, browser="b", handle=handle)

        with pytest.raises(session_check.SessionEnded):
            passkeys.add(stale, browser="b", handle=handle, credential=device.create(options))

    def test_no_page_adds_one_at_an_address_without_passkeys(self, operator, settings):
        settings.BASE_URL = "http://127.0.0.1"

        assert operator.get(NEW).status_code == 404
        assert "need https and a domain name" in text_of(operator.get(OWN))


class TestChanging:
    def test_a_name_is_changed_without_the_password(self, enrolled):
        [passkey] = rows(enrolled.who)

        answer = enrolled.submit(f"{OWN}{passkey.pk}/rename/", name="Laptop")

        assert (answer.status_code, rows(enrolled.who)[0].name) == (303, "Laptop")
        assert written(enrolled.who, "AdministratorPasskey.Rename")[-1]["name"] == "Laptop"
        assert enrolled.submit(f"{OWN}{passkey.pk}/rename/", name="x" * 65).status_code == 400

    def test_one_that_is_removed_at_that_moment_is_not_found(self, enrolled, monkeypatch):
        [passkey] = rows(enrolled.who)
        found = passkeys.find

        def find_and_remove(administrator, passkey_id):
            row = found(administrator, passkey_id)
            AdministratorPasskey.objects.filter(pk=passkey_id).delete()
            return row

        monkeypatch.setattr(passkeys, "find", find_and_remove)

        assert enrolled.submit(f"{OWN}{passkey.pk}/rename/", name="Laptop").status_code == 404

    def test_a_removal_needs_the_password(self, enrolled, device):
        path = f"{OWN}{rows(enrolled.who)[0].pk}/remove/"

        assert enrolled.submit(path, password="wrong").status_code == 401
        assert len(rows(enrolled.who)) == 1
        assert enrolled.submit(path, password=PASSWORD).status_code == 303
        assert rows(enrolled.who) == []
        assert len(written(enrolled.who, "AdministratorPasskey.Delete")) == 1
        assert sent()[-1][1].startswith("A passkey was removed")
        assert sign_in(browser_of(enrolled.who), device).status_code == 401

    def test_passkeys_of_others_are_not_found(self, enrolled):
        other = signed_in()
        [passkey] = rows(enrolled.who)

        for verb in ("rename", "remove"):
            assert other.get(f"{OWN}{passkey.pk}/{verb}/").status_code == 404
        assert "Phone" not in text_of(other.get(OWN))

    def test_one_of_another_address_is_marked(self, enrolled):
        AdministratorPasskey.objects.filter(administrator=enrolled.who).update(rp_id="old.example")

        assert "Made for another address" in text_of(enrolled.get(OWN))

    def test_the_page_says_that_the_api_needs_more(self, operator):
        assert "Passkeys do not replace them there." in text_of(operator.get(OWN))


class TestByOthers:
    @pytest.fixture
    def superuser(self, acme, address):
        boss = signed_in()
        boss.choose(acme)
        return boss

    def path(self, who):
        return f"/admin/administrators/administrator/{who.pk}"

    def test_see_the_passkeys_and_remove_them_with_their_own_password(self, superuser, enrolled, device):
        browser = browser_of(enrolled.who)
        sign_in(browser, device)
        page = f"{self.path(enrolled.who)}/change/"
        operation = f"{self.path(enrolled.who)}/do/passkeys/"

        assert "Phone" in text_of(superuser.get(page))
        assert superuser.submit(operation, current_password="wrong").status_code == 403
        assert len(rows(enrolled.who)) == 1
        assert superuser.submit(operation, current_password=PASSWORD).status_code == 303

        assert rows(enrolled.who) == []
        assert len(written(enrolled.who, "AdministratorPasskey.Delete")) == 1
        assert not is_in(browser)

    def test_only_superusers_do(self, acme, enrolled):
        limited = browser_of(operators.administrator(tenants=[acme.tenant.slug]))
        limited.sign_in()
        limited.choose(acme)

        assert limited.get(f"{self.path(enrolled.who)}/do/passkeys/").status_code in {403, 404}

    def test_a_password_that_another_sets_ends_them(self, superuser, enrolled):
        with tenancy.using(tenancy.DEFAULT):
            services.change(
                enrolled.who,
                {"password": NEW_PASSWORD, "current_password": PASSWORD},
                by=superuser.who,
            )

        assert rows(enrolled.who) == []

    def test_a_recovery_ends_them(self, enrolled):
        with tenancy.using(tenancy.DEFAULT):
            who = Administrator.objects.get(pk=enrolled.who.pk)
            recovery.set_password(who.pk, state=recovery.get_state(who), password=NEW_PASSWORD)

        assert rows(enrolled.who) == []

    def test_the_own_new_password_keeps_them(self, enrolled):
        enrolled.submit("/admin/password/", current=PASSWORD, password=NEW_PASSWORD)

        assert len(rows(enrolled.who)) == 1


@pytest.mark.parametrize("wrong", [{"algorithm": -47}, {"backed_up": True, "backup_eligible": False}])
def test_the_database_refuses_what_no_check_would_let_through(enrolled, wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        AdministratorPasskey.objects.filter(administrator=enrolled.who).update(**wrong)
