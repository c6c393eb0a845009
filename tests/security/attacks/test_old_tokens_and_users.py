"""An old token or session of an administrator, which removes what protects a user's second factor (AP47)."""

import pytest
from django.db import connection

from identity.factors.models import Passkey
from identity.users.models import User
from tests.support import management, operators, passkeys
from tests.support.admin_pages import operate
from tests.support.database_locks import send_meanwhile
from tests.support.management import result_of
from tests.support.old_tokens import is_refused, new_recent, new_thief
from tests.support.operators import hidden_fields
from tests.support.site_sessions import age

NEW = "c0rrect horse battery"
REMOVE = {"password": NEW, "remove_linked_accounts_and_passkeys": True}
CONFIRM = "/admin/confirm/"


@pytest.fixture
def thief(acme):
    return new_thief(acme)


@pytest.fixture
def session(acme):
    operator = operators.at(acme)
    age(operator)
    return operator


@pytest.fixture
def user(acme):
    passkeys.switch_on(acme, "WebAuthn", "Totp")
    return acme.user()


def path_of(user):
    return f"/users/{user.pk}/password"


def page_of(user, name):
    return f"/admin/users/user/{user.pk}/do/{name}/"


def give_passkey(acme, user):
    passkeys.enrol(acme, user, passkeys.device())


def has_passkey(acme):
    with acme.active():
        return Passkey.objects.exists()


class TestPasskeys:
    """A new password may remove them."""

    def test_attack_AP47_an_old_token_does_not_remove_them(self, acme, user, thief):
        give_passkey(acme, user)
        before = user.password

        assert is_refused(thief.patch(path_of(user), **REMOVE))
        assert has_passkey(acme)
        with acme.active():
            assert User.objects.get(pk=user.pk).password == before

    @pytest.mark.parametrize("caller", [new_recent, management.machine])
    def test_attack_AP47_a_recent_one_does_and_so_does_an_application(self, acme, user, caller):
        give_passkey(acme, user)

        result_of(caller(acme).patch(path_of(user), **REMOVE))

        assert not has_passkey(acme)

    def test_attack_AP47_a_password_that_removes_none_needs_no_proof(self, acme, user, thief):
        result_of(thief.patch(path_of(user), **REMOVE))
        give_passkey(acme, user)

        result_of(thief.patch(path_of(user), password=NEW))

        assert has_passkey(acme)

    def test_attack_AP47_an_unattended_session_does_not_remove_them(self, acme, user, session):
        page = page_of(user, "password")
        sent = hidden_fields(session.get(page)) | REMOVE
        give_passkey(acme, user)

        for answer in (session.get(page), session.http.post(page, data=sent)):
            assert answer.headers["Location"].startswith(CONFIRM)
        assert has_passkey(acme)

    def test_a_recent_proof_of_the_session_is_enough(self, acme, user):
        give_passkey(acme, user)
        fields = {"password": NEW, "remove_linked_accounts_and_passkeys": "on"}

        done = operate(operators.at(acme), "users/user", user, "password", **fields)

        assert done.status_code == 303, done.text
        assert not has_passkey(acme)

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
    def test_attack_AP47_a_passkey_that_is_created_meanwhile_stays(self, acme, user, thief):
        answer = send_meanwhile(
            acme.active(),
            lambda: give_passkey(acme, user),
            lambda: thief.patch(path_of(user), **REMOVE),
        )

        assert is_refused(answer)
        assert has_passkey(acme)
