"""Passkeys of administrators: signing in to the operators' site, and what ends it."""

import base64
import re
import time
from urllib.parse import urlencode

import pytest
from django.core import mail as django_mail
from django.test.client import encode_multipart

from audit.models import Entry
from identity.core import tenancy
from identity.factors import totp
from identity.limits import rules
from identity.limits.rules import Limit
from identity.operator_kit import fresh_proof
from management.administrators import mail, second_step, services
from management.administrators.models import Administrator, AdministratorPasskey
from tests.support import authenticator, operators
from tests.support import passkeys as users_passkeys
from tests.support.admin_pages import is_sign_in
from tests.support.administrator_passkeys import (
    LOGIN,
    NEW,
    OWN,
    SIGN_IN,
    SIGN_IN_OPTIONS,
    STORE,
    STORE_OPTIONS,
    ask,
    browser_of,
    enrol,
    post,
    prove,
    sign_in,
)
from tests.support.cast import PASSWORD
from tests.support.operators import text_of

TOKEN = 'name="csrfmiddlewaretoken" value="([^"]+)"'


@pytest.fixture(autouse=True)
def host(settings):
    """Browsers offer no passkeys at an IP address."""
    settings.BASE_URL, settings.WEBAUTHN_RP_ID = "http://localhost", "localhost"
    settings.EMAIL_HOST = "mail.example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    django_mail.outbox = []


@pytest.fixture
def operator(address):
    operator = browser_of(operators.administrator(email="ada@example.com"))
    Administrator.objects.filter(pk=operator.who.pk).update(proven_email="ada@example.com")
    assert operator.sign_in().status_code == 303
    return operator


@pytest.fixture
def device():
    return users_passkeys.device()


@pytest.fixture
def enrolled(operator, device):
    """A signed-in administrator who has a passkey."""
    enrol(operator, device)
    return operator


@pytest.fixture
def stranger(enrolled):
    """Another browser of the administrator, where nobody is signed in."""
    return browser_of(enrolled.who)


def rows(who):
    return list(AdministratorPasskey.objects.filter(administrator=who).order_by("created_at"))


def is_in(operator):
    return operator.get("/admin/tenant/").status_code == 200


def written(who, key):
    entries = Entry.objects.filter(key=key, payload__username=who.username)
    return [entry.payload for entry in entries.order_by("created_at", "id")]


def last_refusal():
    return Entry.objects.filter(key="Admin.SignIn", payload__by="passkey").latest("created_at").payload


def subjects():
    """The mails that were sent, when the thread that sends them is done."""
    mail.EXECUTOR.submit(lambda: None).result()
    return [message.subject for message in django_mail.outbox]


def remove_by(operator, passkey):
    answer = operator.submit(f"{OWN}{passkey.pk}/remove/", password=PASSWORD)
    assert answer.status_code == 303, text_of(answer)


class TestSigningIn:
    def test_needs_no_password(self, stranger, device):
        answer = sign_in(stranger, device)

        assert (answer.status_code, answer.json()) == (200, {"result": {"redirect_to": "/admin/"}})
        assert "no-store" in answer.headers["Cache-Control"]
        assert is_in(stranger)
        [passkey] = rows(stranger.who)
        entry = written(stranger.who, "Admin.SignIn")[-1]
        assert (entry["result"], entry["by"], entry["passkey"]) == ("success", "passkey", str(passkey.pk))
        assert passkey.last_used_at

    def test_needs_no_code_of_a_second_step(self, stranger, device):
        secret = totp.new_secret()
        code = authenticator.code(base64.b32encode(secret).decode())
        second_step.set_up(stranger.who, secret=secret, code=code)

        assert sign_in(stranger, device).status_code == 200
        assert is_in(stranger)

    @pytest.mark.parametrize(
        ("wrong", "check"),
        [
            ({"origin": "https://evil.example"}, "origin"),
            ({"rp_id": "evil.example"}, "rp_id"),
            ({"signature": b"x" * 70}, "signature"),
            ({"user_handle": b"x" * 32}, "user_handle"),
            ({"user_handle": None}, "user_handle"),
            ({"flags": 0x19}, "user_verification"),
            ({"cross_origin": True}, "cross_origin"),
        ],
    )
    def test_makes_the_checks_of_users_passkeys(self, stranger, device, wrong, check):
        answer = sign_in(stranger, device, **wrong)

        assert (answer.status_code, answer.json()["result"]) == (401, {"reason": "passkey_refused"})
        assert check not in text_of(answer)
        refusal = last_refusal()
        assert (refusal["result"], refusal["error"], refusal["check"]) == ("failed", "passkey_refused", check)
        assert not is_in(stranger)

    def test_MT19_a_challenge_counts_once(self, stranger, device):
        credential = device.get(ask(stranger))
        copy = dict(stranger.http.cookies)

        assert post(stranger, SIGN_IN, {"credential": credential}).status_code == 200
        thief = browser_of(stranger.who)
        for name, morsel in copy.items():
            thief.http.cookies[name] = morsel.value

        assert post(thief, SIGN_IN, {"credential": credential}).status_code == 401
        assert last_refusal()["check"] == "challenge_used"

    def test_MT8_a_challenge_of_another_browser_is_refused(self, stranger, device):
        credential = device.get(ask(stranger))

        answer = post(browser_of(stranger.who), SIGN_IN, {"credential": credential})

        assert (answer.status_code, last_refusal()["check"]) == (401, "challenge")

    def test_MT18_a_challenge_of_a_registration_is_refused(self, enrolled, device):
        prove(enrolled)
        creation = ask(enrolled, f"{NEW}options/", NEW)
        credential = device.get(ask(enrolled, page=NEW), challenge=creation["challenge"])

        answer = post(enrolled, SIGN_IN, {"credential": credential}, NEW)

        assert (answer.status_code, last_refusal()["check"]) == (401, "challenge")

    def test_MT15_a_passkey_of_a_user_signs_nobody_in(self, operator, acme):
        device = users_passkeys.device()
        users_passkeys.enrol(users_passkeys.switch_on(acme, "WebAuthn"), acme.user(), device)

        answer = sign_in(browser_of(operator.who), device)

        assert (answer.status_code, last_refusal()["check"]) == (401, "unknown_credential")

    def test_MT34_nobody_signs_in_from_another_page(self, stranger, device):
        credential = device.get(ask(stranger))

        answer = stranger.http.post(SIGN_IN, {"credential": credential}, content_type="application/json")

        assert answer.status_code == 403

    @pytest.mark.parametrize(
        ("body", "status"),
        [(b"", 400), (b"[]", 400), (b"{", 400), (b"{}", 401), (b'{"credential": {"id": "x"}}', 401)],
    )
    def test_what_is_no_credential_is_refused(self, operator, body, status):
        assert post(browser_of(operator.who), SIGN_IN, body).status_code == status

    @pytest.mark.parametrize("path", [SIGN_IN, SIGN_IN_OPTIONS, STORE, STORE_OPTIONS])
    @pytest.mark.parametrize("kind", ["multipart/form-data", "application/x-www-form-urlencoded"])
    def test_a_form_is_refused(self, operator, path, kind):
        page = NEW if path.startswith(NEW) else LOGIN
        prove(operator)
        form = {"csrfmiddlewaretoken": re.findall(TOKEN, text_of(operator.get(page)))[0]}
        is_multipart = kind.startswith("multipart")
        body = encode_multipart("x", form) if is_multipart else urlencode(form)

        answer = operator.http.post(path, body, content_type=f"{kind}; boundary=x" if is_multipart else kind)

        assert (answer.status_code, answer.json()["message"]) == (400, "Body: must be JSON.")

    def test_only_posts_are_answered(self, stranger):
        assert [stranger.get(path).status_code for path in (SIGN_IN, SIGN_IN_OPTIONS)] == [405, 405]

    def test_decision_M28_a_counter_that_does_not_grow_is_refused_and_reported(self, operator):
        device = users_passkeys.device(flags=0, step=1)
        enrol(operator, device)
        assert sign_in(browser_of(operator.who), device).status_code == 200

        answer = sign_in(browser_of(operator.who), device, counter=1)

        assert (answer.status_code, last_refusal()["check"]) == (401, "counter")
        assert len(written(operator.who, "AdministratorPasskey.CounterAnomaly")) == 1
        assert len(rows(operator.who)) == 1
        assert "may have been copied" in subjects()[-1]

    def test_decision_M28_a_synced_passkey_is_not_judged_by_its_counter(self, stranger, device):
        device.keys[-1].counter = 5
        sign_in(stranger, device)
        device.keys[-1].counter = 3

        assert sign_in(browser_of(stranger.who), device).status_code == 200

    def test_attempts_of_an_address_are_limited(self, stranger, device, monkeypatch):
        monkeypatch.setattr(rules, "SIGN_INS", Limit("passkeys in a test", 2, 60))
        for _ in range(2):
            assert sign_in(browser_of(stranger.who), device, signature=b"x" * 70).status_code == 401

        answer = sign_in(stranger, device)

        assert (answer.status_code, int(answer.headers["Retry-After"]) > 0) == (429, True)

    def test_whoever_is_deleted_cannot(self, stranger, device):
        with tenancy.using(tenancy.DEFAULT):
            services.remove(stranger.who)

        assert sign_in(stranger, device).status_code == 401

    def test_replaces_the_session_of_somebody_else(self, enrolled, device):
        other = browser_of(operators.administrator())
        other.sign_in()
        key = other.http.cookies["gatehouse-admin"].value

        sign_in(other, device)

        assert other.http.cookies["gatehouse-admin"].value != key
        assert enrolled.who.username in text_of(other.get("/admin/tenant/"))

    def test_is_offered_in_the_field_and_by_a_button(self, stranger, settings):
        shown = text_of(stranger.get(LOGIN))
        settings.BASE_URL = "http://127.0.0.1"
        without = text_of(stranger.get(LOGIN))

        assert 'autocomplete="username webauthn"' in shown
        assert "data-autofill" in shown
        assert "Sign in with a passkey" in shown
        assert "Sign in with a passkey" not in without


class TestTheSession:
    def test_ends_with_its_passkey(self, enrolled, stranger, device):
        sign_in(stranger, device)

        remove_by(enrolled, rows(enrolled.who)[0])

        assert is_in(enrolled)
        assert is_sign_in(stranger.get("/admin/tenant/"))

    def test_of_a_password_outlives_a_passkey_that_the_browser_used_before(self, enrolled, stranger, device):
        sign_in(stranger, device)
        stranger.sign_in()

        remove_by(enrolled, rows(enrolled.who)[0])

        assert is_in(stranger)

    def test_needs_no_second_step_where_the_installation_requires_one(self, stranger, device, settings):
        settings.ADMIN_TWO_STEP = "required"
        by_password = browser_of(stranger.who)

        sign_in(stranger, device)
        by_password.sign_in()

        assert is_in(stranger)
        assert by_password.get("/admin/tenant/").headers["Location"] == "/admin/two-step/"
        assert "A passkey replaces it on this site only." in text_of(stranger.get("/admin/two-step/"))

    def test_does_not_lend_its_passkey_to_a_password(self, stranger, device, settings):
        settings.ADMIN_TWO_STEP = "required"
        sign_in(stranger, device)

        stranger.sign_in()

        assert stranger.get("/admin/tenant/").headers["Location"] == "/admin/two-step/"

    def test_gives_no_token_of_the_api(self, enrolled, settings):
        settings.ADMIN_TWO_STEP = "required"
        body = {"username": enrolled.who.username, "password": PASSWORD}

        answer = enrolled.http.post("/api/admin/sign-in", body, content_type="application/json")

        assert answer.status_code == 403
        assert answer.json()["message"].startswith("this installation requires a second step")


def test_a_sign_in_with_a_passkey_is_a_proof_for_five_minutes(stranger, device):
    assert sign_in(stranger, device).status_code == 200

    assert time.time() - stranger.http.session[fresh_proof._KEY] < 60
