"""Recovery of an administrator's password by mail, and the email that an administrator confirms for it."""

import re
import secrets
from datetime import timedelta

import pytest
import time_machine
from django.core import mail as django_mail
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from identity.limits import rules
from identity.limits.rules import Limit
from management.administrators import emails, mail, recovery, services, sign_in, tokens
from management.administrators.models import Administrator
from tests.support import operators
from tests.support.cast import PASSWORD
from tests.support.operators import Operator, text_of
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("default_tenant")
ASK, NEW, LOGIN = "/admin/recover/", "/admin/recover/new/", "/admin/login/"
NEW_PASSWORD = "a new and better password"


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_HOST = "mail.example.com"
    settings.DEFAULT_FROM_EMAIL = "gatehouse@example.com"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    sent()  # of earlier tests


@pytest.fixture
def who():
    email = f"{secrets.token_hex(5)}@example.com"
    administrator = operators.administrator(email=email)
    Administrator.objects.filter(pk=administrator.pk).update(proven_email=email)
    administrator.refresh_from_db()
    return administrator


def sent():
    """The mails that were sent since, when the thread that sends them is done."""
    mail.EXECUTOR.submit(lambda: None).result()
    messages, django_mail.outbox = django_mail.outbox, []
    return messages


def ask(email, browser=None):
    return (browser or Client()).post(ASK, {"email": email})


def link_for(who):
    assert ask(who.email).status_code == 200
    (message,) = sent()
    assert message.to == [who.email]
    return path_in(message.body)


def path_in(text):
    (path,) = re.findall(r"http://[^/\s]+(/admin/\S+)", text)
    return path


def recover(link, password=NEW_PASSWORD):
    browser = Client()
    followed = browser.get(link)
    assert (followed.status_code, followed.headers["Location"]) == (302, NEW)
    return browser.post(NEW, {"password": password})


class TestALink:
    def test_sets_a_password_and_ends_sessions_and_tokens_and_says_so(self, who):
        token = tokens.issue(who)
        elsewhere = Client()
        elsewhere.force_login(who)

        answer = recover(link_for(who))

        assert (answer.status_code, answer.headers["Location"]) == (303, LOGIN)
        assert sign_in.begin(username=who.username, password=NEW_PASSWORD).pk == who.pk
        with pytest.raises(sign_in.WrongPassword):
            sign_in.begin(username=who.username, password=PASSWORD)
        with pytest.raises(tokens.InvalidToken):
            tokens.get_administrator(token)
        assert elsewhere.get("/admin/tenant/").status_code == 302
        (notice,) = sent()
        assert (notice.to, "was replaced" in notice.subject) == ([who.email], True)

    def test_signs_nobody_in(self, who):
        browser = Client()
        browser.get(link_for(who))

        browser.post(NEW, {"password": NEW_PASSWORD})

        assert browser.get("/admin/tenant/").status_code == 302

    def test_leaves_the_second_step(self, who):
        Administrator.objects.filter(pk=who.pk).update(second_step_since=timezone.now())

        recover(link_for(who))

        browser = Client()
        answer = browser.post(LOGIN, {"username": who.username, "password": NEW_PASSWORD})
        assert answer.headers["Location"].startswith("/admin/login/code/")
        # Other tests of this process encrypt all keys again, and this step has none.
        Administrator.objects.filter(pk=who.pk).update(second_step_since=None)

    def test_works_once_also_in_two_browsers(self, who):
        link = link_for(who)
        late = Client()
        late.get(link)
        recover(link)

        assert Client().get(link).status_code == 410
        assert late.post(NEW, {"password": "something else"}).status_code == 410

    def test_that_is_used_twice_at_once_sets_one_password(self, who):
        state = recovery.get_state(who)

        def use(number):
            try:
                recovery.set_password(who.pk, state=state, password=f"{NEW_PASSWORD} {number}")
            except recovery.LinkEnded:
                return None
            return number

        assert len([one for one in at_once(3, use) if one is not None]) == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"password": "set by another administrator"},
            {"email": "other@example.com"},
            {"role": "auditor"},
            {"is_superuser": False},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_ends_when_the_administrator_changes(self, who, change):
        link = link_for(who)

        services.change(who, change)

        assert Client().get(link).status_code == 410

    def test_ends_when_the_address_is_replaced_and_set_back(self, who):
        link, email = link_for(who), who.email

        services.change(who, {"email": "other@example.com"})
        services.change(who, {"email": email})

        assert Client().get(link).status_code == 410

    def test_is_not_sent_to_an_address_that_is_set_back(self, who):
        email = who.email
        services.change(who, {"email": "other@example.com"})
        services.change(who, {"email": email})

        assert ask(email).status_code == 200
        assert sent() == []

    def test_outlives_sign_ins_of_a_thief_of_the_password(self, who):
        link, browser, thief = link_for(who), Client(), {"username": who.username, "password": PASSWORD}

        signed_in = Client().post(LOGIN, thief)
        browser.get(link)
        again = Client().post(LOGIN, thief)
        answer = browser.post(NEW, {"password": NEW_PASSWORD})

        assert (signed_in.status_code, again.status_code, answer.status_code) == (303, 303, 303)
        assert Client().post(LOGIN, thief).status_code == 401
        assert Client().get(link).status_code == 410

    def test_ends_after_half_an_hour(self, who):
        link = link_for(who)

        with time_machine.travel(timezone.now() + timedelta(minutes=31)):
            assert Client().get(link).status_code == 410

    def test_leaves_ten_minutes_for_the_form(self, who):
        browser = Client()
        browser.get(link_for(who))

        with time_machine.travel(timezone.now() + timedelta(minutes=11)):
            answer = browser.post(NEW, {"password": NEW_PASSWORD})

        assert answer.status_code == 410

    def test_of_one_administrator_is_none_of_another(self, who):
        other = operators.administrator()
        token = link_for(who).split("/")[-2]

        assert Client().get(f"{ASK}{other.pk}/{token}/").status_code == 410

    @pytest.mark.parametrize("path", ["0/x", "1/x", "1/%00", f"{2**63}/x-y", f"{'9' * 400}/x-y", "1/é-é"])
    def test_that_was_made_up_opens_nothing(self, path):
        answer = Client().get(f"{ASK}{path}/")

        assert answer.status_code == 410
        assert not answer.cookies

    def test_refuses_an_empty_password_and_stays_usable(self, who):
        browser = Client()
        browser.get(link_for(who))

        assert browser.post(NEW, {"password": ""}).status_code == 400
        assert browser.post(NEW, {"password": NEW_PASSWORD}).status_code == 303


class TestAsking:
    def test_answers_the_same_for_an_address_that_is_nobodys(self, who):
        nobody = f"{secrets.token_hex(5)}@example.com"

        known, unknown = ask(who.email), ask(nobody)

        assert known.status_code == unknown.status_code == 200
        assert text_of(known).replace(who.email, nobody) == text_of(unknown)
        assert [message.to for message in sent()] == [[who.email]]

    @pytest.mark.parametrize("proven", [None, "other@example.com", ""])
    def test_sends_nothing_to_an_unproven_address(self, who, proven):
        Administrator.objects.filter(pk=who.pk).update(proven_email=proven)

        assert ask(who.email).status_code == 200
        assert sent() == []

    def test_of_two_with_one_address_sends_each_a_link(self, who):
        other = operators.administrator(email=who.email)
        Administrator.objects.filter(pk=other.pk).update(proven_email=who.email)

        ask(who.email.upper())

        named = {
            name for message in sent() for name in (who.username, other.username) if name in message.body
        }
        assert named == {who.username, other.username}

    def test_of_two_with_one_address_sends_the_second_although_the_first_fails(self, who, monkeypatch):
        other = operators.administrator(email=who.email)
        Administrator.objects.filter(pk=other.pk).update(proven_email=who.email)
        send, calls = mail.send, []

        def fail_first(*message):
            calls.append(message)
            if len(calls) == 1:
                raise mail.NotSent
            send(*message)

        monkeypatch.setattr(mail, "send", fail_first)
        ask(who.email)

        (message,) = sent()
        assert other.username in message.body

    def test_is_limited_alike_for_everybody(self, who, monkeypatch):
        monkeypatch.setattr(rules, "RECOVERIES", Limit(f"few {who.pk}", 2, 60))

        for email in (who.email, f"{secrets.token_hex(5)}@example.com"):
            assert [ask(email).status_code for _ in range(3)] == [200, 200, 429]

    @pytest.mark.parametrize("email", ["", "nobody", "a@b@c", "\0@example.com", "x" * 300])
    def test_wants_an_address(self, email):
        assert ask(email).status_code == 400

    def test_has_an_entry_without_the_address_of_nobody(self, who):
        nobody = f"{secrets.token_hex(5)}@example.com"

        ask(who.email)
        ask(nobody)

        entries = Entry.objects.filter(key="Admin.SendRecovery").order_by("-created_at")[:2]
        texts = [str(entry.payload) for entry in entries]
        assert who.email in texts[1]
        assert nobody not in texts[0]

    def test_is_not_offered_without_a_mail_server(self, settings):
        settings.EMAIL_HOST = ""

        assert ASK not in text_of(Client().get(LOGIN))
        assert Client().get(ASK).status_code == 404


class TestTheOwnEmail:
    PAGE = "/admin/email/"

    @pytest.fixture
    def browser(self, who):
        browser = Client()
        browser.force_login(who)
        return browser

    def test_is_confirmed_by_a_link_and_the_earlier_one_gets_a_notice(self, who, browser):
        email = f"{secrets.token_hex(5)}@example.com"

        asked = browser.post(self.PAGE, {"email": email, "password": PASSWORD})
        (message,) = sent()
        shown = browser.get(path_in(message.body))
        before = Administrator.objects.get(pk=who.pk).email
        done = browser.post(path_in(message.body))

        after = Administrator.objects.get(pk=who.pk)
        assert (asked.status_code, shown.status_code, done.status_code) == (303, 200, 303)
        assert (message.to, before, after.email, after.has_proven_email) == ([email], who.email, email, True)
        assert [notice.to for notice in sent()] == [[who.email]]

    def test_needs_the_password(self, who, browser):
        assert browser.post(self.PAGE, {"email": "a@example.com", "password": "wrong"}).status_code == 401
        assert sent() == []

    def test_link_is_of_no_use_to_another_administrator(self, who, browser):
        browser.post(self.PAGE, {"email": "a@example.com", "password": PASSWORD})
        (message,) = sent()
        thief = operators.administrator()
        other = Client()
        other.force_login(thief)

        assert Client().get(path_in(message.body)).headers["Location"].startswith(LOGIN)
        assert other.post(path_in(message.body)).headers["Location"] == self.PAGE
        thief.refresh_from_db()
        assert thief.email == ""

    def test_link_ends_with_the_next_change(self, who):
        emails.send_link(who, "a@example.com")
        (message,) = sent()
        token = path_in(message.body).split("/")[-2]
        services.change(who, {"password": NEW_PASSWORD})

        with pytest.raises(emails.LinkEnded):
            emails.confirm(who, token)

    def test_that_another_administrator_sets_is_unproven(self, who):
        services.change(who, {"email": "other@example.com"})

        assert not Administrator.objects.get(pk=who.pk).has_proven_email

    def test_page_is_there_for_every_role(self, acme):
        for role in ("auditor", "support"):
            operator = Operator(operators.administrator(role=role, tenants=[acme.tenant.slug]))
            browser = Client()
            browser.force_login(operator.who)
            assert browser.get(self.PAGE).status_code == 200
