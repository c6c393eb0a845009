"""The operators' site: who changes second factors of users confirms first that it is them."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings
from django.contrib.admin import site
from django.utils import translation

from identity.factors.models import Authenticator, RecoveryGrant
from identity.users.models import User
from management.site import confirmation, own_passkeys
from tests.support import authenticator, factors, import_page, operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.listed_proofs import NEEDING, OF_FACTORS
from tests.support.operators import text_of
from tests.support.site_sessions import age
from tests.support.two_step_page import set_up

CONFIRM = "/admin/confirm/"


@pytest.fixture
def user(acme):
    factors.switch_on(acme)
    user = acme.user()
    factors.enrol(acme, user)
    return user


@pytest.fixture
def operator(acme):
    return operators.at(acme)


def path_of(user, name):
    return f"/admin/users/user/{user.pk}/do/{name}/"


def hidden_in(page):
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text_of(page))
    return {name: unescape(value) for name, value in found}


def next_of(answer):
    return parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]


@pytest.mark.parametrize("page", [confirmation._OPERATION, own_passkeys._ADD])
def test_a_page_says_how_long_the_proof_counts(page, settings):
    with translation.override("en"):
        texts = [str(page.description)]
        settings.CONFIRM_SECONDS = 1200
        texts.append(str(page.description))
    with translation.override("de"):
        texts.append(str(page.description))

    assert [re.findall(r"\d+ \w+", text) for text in texts] == [["5 minutes"], ["20 minutes"], ["20 Minuten"]]


def test_decision_M47_the_operations_that_need_it_run_on_no_other_page():
    """Neither the page for many rows nor an operation's own pages ask for the proof."""
    kinds: dict[Any, Any] = dict(site._registry)

    needing = [
        (model._meta.model_name, one)
        for model, pages in kinds.items()
        for one in pages.catalogue.all()
        if one.needs_proof
    ]

    assert {(model, one.name) for model, one in needing} == NEEDING
    assert [one.name for _, one in needing if one.bulk_label or one.serve] == []


@pytest.mark.parametrize("name", OF_FACTORS)
def test_decision_M47_each_is_asked_for_and_changes_nothing_before(acme, operator, user, name):
    form = hidden_in(operator.get(path_of(user, name)))
    age(operator)

    shown, sent = operator.get(path_of(user, name)), operator.http.post(path_of(user, name), data=form)

    for answer in (shown, sent):
        assert answer.status_code in {302, 303}
        assert answer.headers["Location"].startswith(f"{CONFIRM}?next=")
    with acme.active():
        assert Authenticator.objects.exists()
        assert not RecoveryGrant.objects.exists()


@pytest.mark.parametrize("name", ["suspend", "unlock", "end-sessions"])
def test_other_operations_do_not_ask(acme, operator, user, name):
    age(operator)

    assert CONFIRM not in operator.get(path_of(user, name)).headers.get("Location", "")


def test_decision_M47_without_a_second_step_the_password_is_the_proof(acme, operator, user):
    age(operator)
    asked = operator.get(path_of(user, "reset-factors")).headers["Location"]

    wrong = operator.submit(asked, password="wrong")
    still = operator.get(path_of(user, "reset-factors"))
    right = operator.submit(asked, password=PASSWORD)
    done = operate(operator, "users/user", user, "reset-factors")

    assert (wrong.status_code, still.status_code) == (401, 302)
    assert "Is wrong, or there were too many wrong attempts" in wrong.text
    assert "username" not in wrong.text.partition("<main")[2]
    assert right.headers["Location"] == path_of(user, "reset-factors")
    assert done.status_code == 303
    with acme.active():
        assert not Authenticator.objects.exists()


def test_decision_M47_with_a_second_step_only_its_code_is_the_proof(acme, user):
    operator = operators.at(acme)
    key, _ = set_up(operator)
    age(operator)
    asked = operator.get(path_of(user, "recovery-code")).headers["Location"]

    by_password = operator.submit(asked, password=PASSWORD)
    wrong = operator.submit(asked, code="000000")
    right = operator.submit(asked, code=authenticator.code(key, 1))

    assert 'name="password"' not in text_of(operator.get(asked))
    assert CONFIRM not in by_password.headers.get("Location", "")
    assert "Location" not in by_password.headers
    assert wrong.status_code == 401
    assert right.headers["Location"] == path_of(user, "recovery-code")
    assert operate(operator, "users/user", user, "recovery-code").status_code == 303


def test_the_input_is_kept_meanwhile(acme, operator, user):
    with acme.active():
        factor = str(Authenticator.objects.get().pk)
    form = hidden_in(operator.get(path_of(user, "remove-factor"))) | {"factor": factor}
    age(operator)

    asked = operator.http.post(path_of(user, "remove-factor"), data=form)
    back = operator.submit(asked.headers["Location"], password=PASSWORD).headers["Location"]
    page = text_of(operator.get(back))

    assert back == next_of(asked)
    assert "Not saved yet: check what you typed" in page
    assert re.search(rf'value="{factor}"[^>]*(selected|checked)', page)
    assert operator.submit(back, factor=factor).status_code == 303
    with acme.active():
        assert not Authenticator.objects.exists()


@pytest.mark.parametrize(
    "foreign", ["https://evil.example/", "//evil.example/", "/t/x/account", "javascript:1"]
)
def test_it_leads_to_no_other_site(operator, foreign):
    answer = operator.submit(f"{CONFIRM}?next={foreign}", password=PASSWORD)

    assert answer.headers["Location"] == "/admin/"


def test_the_session_gets_a_new_key(operator):
    before = operator.http.cookies[settings.SESSION_COOKIE_NAME]

    operator.submit(CONFIRM, password=PASSWORD)

    assert operator.http.cookies[settings.SESSION_COOKIE_NAME] != before


def test_nobody_confirms_without_a_session(acme):
    stranger = operators.Operator(operators.administrator())

    assert "/admin/login/" in stranger.get(CONFIRM).headers["Location"]


class TestImportedAuthenticators:
    """Who imports authenticators chooses the second factors of users."""

    SECRETS = b"id,username,totp_secret\n1,ann,GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\n2,ben,\n"
    PLAIN = b"id,username,totp_secret\n1,ann,\n"

    def send(self, operator, content):
        """Check a file, and return the address of the page about it and the form of that page."""
        address, page = import_page.checked(operator, content)
        return address, import_page.hidden(page)

    def count(self, acme):
        with acme.active():
            return User.objects.count(), Authenticator.objects.count()

    def test_decision_M47_they_need_a_fresh_proof_and_the_file_need_not_be_sent_again(self, acme, operator):
        age(operator)
        address, form = self.send(operator, self.SECRETS)

        asked = operator.http.post(import_page.PATH, data=form)
        before = self.count(acme)
        proven = operator.submit(asked.headers["Location"], password=PASSWORD)
        again = operator.get(proven.headers["Location"])
        done = operator.http.post(import_page.PATH, data=import_page.hidden(again.text))

        assert asked.headers["Location"].startswith(f"{CONFIRM}?next=")
        assert next_of(asked) == address == proven.headers["Location"]
        assert before == (0, 0)
        assert "?result=" in done.headers["Location"]
        assert self.count(acme) == (2, 1)

    def test_decision_M47_a_wrong_password_imports_nothing(self, acme, operator):
        age(operator)
        _, form = self.send(operator, self.SECRETS)
        asked = operator.http.post(import_page.PATH, data=form)

        operator.submit(asked.headers["Location"], password="wrong")
        again = operator.http.post(import_page.PATH, data=form)

        assert again.headers["Location"].startswith(CONFIRM)
        assert self.count(acme) == (0, 0)

    @pytest.mark.parametrize("content", [PLAIN, b"id,username\n1,ann\n"])
    def test_users_without_them_need_none(self, acme, operator, content):
        age(operator)
        _, form = self.send(operator, content)

        operator.http.post(import_page.PATH, data=form)

        assert self.count(acme) == (1, 0)

    def test_a_proof_within_five_minutes_counts(self, acme, operator):
        age(operator, 0)
        _, form = self.send(operator, self.SECRETS)

        operator.http.post(import_page.PATH, data=form)

        assert self.count(acme) == (2, 1)

    def test_another_session_of_the_administrator_does_not_find_the_file(self, acme, operator):
        address, _ = self.send(operator, self.SECRETS)
        other = operators.at(acme, operator.who)
        import_page.checked(other, self.PLAIN)

        assert other.get(address).status_code == 410
