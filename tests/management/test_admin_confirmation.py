"""The operators' site: who changes second factors of users confirms first that it is them."""

import re
import time
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import settings

from identity.factors.models import Authenticator, RecoveryGrant
from identity.operator_kit import fresh_proof
from management.site.sessions import SessionStore
from tests.management.test_two_step import set_up
from tests.support import authenticator, factors, operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.operators import text_of

CONFIRM = "/admin/confirm/"
OPERATIONS = ["two-step", "remove-factor", "reset-factors", "recovery-code"]


@pytest.fixture
def user(acme):
    factors.switch_on(acme)
    user = acme.user()
    factors.enrol(acme, user)
    return user


@pytest.fixture
def operator(acme):
    return operators.at(acme)


def age(operator, seconds=settings.CONFIRM_SECONDS + 1):
    """Let the administrator have proven this long ago who it is."""
    store = SessionStore(session_key=operator.http.cookies[settings.SESSION_COOKIE_NAME])
    store[fresh_proof._KEY] = int(time.time()) - seconds
    store.save()


def path_of(user, name):
    return f"/admin/users/user/{user.pk}/do/{name}/"


def hidden_in(page):
    found = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', text_of(page))
    return {name: unescape(value) for name, value in found}


def next_of(answer):
    return parse_qs(urlsplit(answer.headers["Location"]).query)["next"][0]


@pytest.mark.parametrize("name", OPERATIONS)
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
