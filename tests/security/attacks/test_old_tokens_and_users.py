"""An old token or session of an administrator, which removes what protects a user's second factor (AP47)."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from identity.factors.models import Passkey
from identity.limits import services as limits
from identity.limits.models import Counter
from identity.limits.rules import hash_group
from identity.users import sign_in_locks
from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support import management, operators, passkeys
from tests.support.admin_pages import operate
from tests.support.bulk_actions import USERS, run_bulk_action
from tests.support.database_locks import send_meanwhile
from tests.support.management import result_of
from tests.support.old_tokens import is_refused, new_recent
from tests.support.operators import hidden_fields, text_of
from tests.support.site_sessions import age

NEW = "c0rrect horse battery"
REMOVE = {"password": NEW, "remove_linked_accounts_and_passkeys": True}
CONFIRM = "/admin/confirm/"


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


def count_failures(group, locked_until=None):
    """Store failures of a group of locks, which have locked it or not."""
    ends_at, group_hash = timezone.now() + timedelta(minutes=5), hash_group(group)
    Counter.objects.create(
        kind="pair", key_hash=group_hash, group_hash=group_hash, ends_at=ends_at, locked_until=locked_until
    )


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

    def test_attack_AP47_an_unattended_session_does_not_remove_them(self, acme, user, old_session):
        page = page_of(user, "password")
        sent = hidden_fields(old_session.get(page)) | REMOVE
        give_passkey(acme, user)

        for answer in (old_session.get(page), old_session.http.post(page, data=sent)):
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


class TestLocks:
    """The lock of second factors bounds the guesses of a person who knows the password."""

    @pytest.fixture
    def groups(self, acme, user):
        """Lock the codes and the username of the user, and return how to read what is locked."""
        known = {
            "codes": sign_in_locks.get_second_factor_group(user.pk),
            "password": sign_in_locks.get_group(Kind.USERNAME, user.username_key),
        }
        with acme.active():
            for group in known.values():
                count_failures(group, timezone.now() + timedelta(minutes=5))

        def read():
            with acme.active():
                return {name for name, group in known.items() if limits.get_locks([group])}

        return read

    def test_attack_AP47_an_old_token_ends_only_the_other_locks(self, user, thief, groups):
        result_of(thief.delete(f"/users/{user.pk}/locks"))

        assert groups() == {"codes"}

    @pytest.mark.parametrize("caller", [new_recent, management.machine])
    def test_attack_AP47_a_recent_one_ends_all_and_so_does_an_application(self, acme, user, groups, caller):
        result_of(caller(acme).delete(f"/users/{user.pk}/locks"))

        assert groups() == set()

    def test_attack_AP47_an_unattended_session_is_asked_first(self, acme, user, old_session, groups):
        page = page_of(user, "unlock")
        asked = old_session.http.post(page, data=hidden_fields(old_session.get(page)))
        before = groups()
        age(old_session, 0)
        old_session.http.post(page, data=hidden_fields(old_session.get(page)))

        assert asked.headers["Location"].startswith(CONFIRM)
        assert before == {"codes", "password"}
        assert groups() == set()

    def test_attack_AP47_nor_does_it_end_them_for_many_users(self, acme, user, old_session, groups):
        run_bulk_action(old_session, USERS, "unlock", [user], confirmed="yes")

        assert "1 refused: this needs your password or code" in text_of(old_session.get(USERS))
        assert groups() == {"codes", "password"}

    def test_attack_AP47_failures_that_have_not_locked_yet_still_count(self, acme, user, old_session, thief):
        group = sign_in_locks.get_second_factor_group(user.pk)
        with acme.active():
            count_failures(group)

        result_of(thief.delete(f"/users/{user.pk}/locks"))
        done = operate(old_session, "users/user", user, "unlock")

        assert done.status_code == 303
        with acme.active():
            assert Counter.objects.filter(group_hash=hash_group(group)).exists()
