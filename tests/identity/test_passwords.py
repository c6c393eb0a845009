"""Hashing passwords: what is stored, when it is hashed again, and that no transaction is open meanwhile."""

import re

import argon2
import nacl.pwhash
import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher, ScryptPasswordHasher
from django.db import connection
from django.test import Client

from identity.users import assigned_passwords, credentials, passwords
from identity.users.models import User
from management.administrators import services as administrators
from management.administrators import sign_in
from tests.support.cast import PASSWORD

# OWASP Password Storage Cheat Sheet: Argon2id with 19 MiB, two passes and one lane.
STORED = re.compile(r"argon2\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22,})\$([A-Za-z0-9+/]{43,})")
SIGN_IN = "/api/interaction/sign-in"


def weak(password):
    """A hash with the parameters of other days."""
    return "argon2" + argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=2).hash(password)


def give(world, user, stored):
    with world.active():
        User.objects.filter(pk=user.pk).update(password=stored)


def stored_of(world, user):
    with world.active():
        return User.objects.get(pk=user.pk).password


class TestHash:
    def test_decision_I9_is_argon2id_with_owasp_parameters(self):
        assert STORED.fullmatch(passwords.hash_password(PASSWORD))

    def test_decision_I9_an_independent_library_verifies_it(self):
        stored = passwords.hash_password(PASSWORD).removeprefix("argon2")

        assert argon2.PasswordHasher().verify(stored, PASSWORD)
        with pytest.raises(argon2.exceptions.VerifyMismatchError):
            argon2.PasswordHasher().verify(stored, PASSWORD + "x")

    def test_one_password_twice_is_two_hashes(self):
        first, other = passwords.hash_password(PASSWORD), passwords.hash_password(PASSWORD)

        [(salt, digest)], [(other_salt, other_digest)] = STORED.findall(first), STORED.findall(other)
        assert salt != other_salt
        assert digest != other_digest

    @pytest.mark.parametrize("way", ["create", "set_password", "administrator"])
    def test_case_K07_that_is_what_lies_in_the_database(self, acme, way):
        user = acme.user()
        with acme.active():
            if way == "set_password":
                assigned_passwords.set_password(user, "another password", is_proven=True)
        stored = stored_of(acme, user)
        if way == "administrator":
            stored = administrators.create(username=f"a-{user.pk.hex}", password=PASSWORD).password

        assert STORED.fullmatch(stored)


class TestVerify:
    def test_both_libraries_agree_about_a_password(self):
        stored = passwords.hash_password(PASSWORD)
        for typed in (PASSWORD, f"{PASSWORD}x", "", "pässword", "\N{SNOWMAN}" * 64):
            by_argon2_cffi = Argon2PasswordHasher().verify(typed, stored)
            assert passwords.verify(typed, stored) == (by_argon2_cffi, None)

    @pytest.mark.parametrize(("kept", "more"), [(-1, ""), (None, "A")], ids=["cut", "longer"])
    def test_a_spoilt_hash_is_nobody_s(self, kept, more):
        assert passwords.verify(PASSWORD, passwords.hash_password(PASSWORD)[:kept] + more)[0] is False


class TestRehash:
    @pytest.mark.parametrize(
        "old",
        [
            weak,
            lambda password: PBKDF2PasswordHasher().encode(password, "saltsaltsaltsalt", 1000),
            lambda password: ScryptPasswordHasher().encode(password, "saltsaltsaltsalt", n=2**10),
        ],
        ids=["argon2", "pbkdf2", "scrypt"],
    )
    def test_decision_I9_a_sign_in_hashes_anew_what_is_out_of_date(self, acme, old):
        user = acme.user()
        give(acme, user, old(PASSWORD))

        answer = acme.browser().sign_in(user)

        assert answer.status_code == 200
        assert STORED.fullmatch(stored_of(acme, user))
        assert acme.browser().sign_in(user).status_code == 200

    def test_decision_I9_a_wrong_password_hashes_nothing_anew(self, acme):
        user, stored = acme.user(), weak(PASSWORD)
        give(acme, user, stored)

        answer = acme.browser().sign_in(user, "wrong password")

        assert answer.status_code == 401
        assert stored_of(acme, user) == stored

    def test_what_is_up_to_date_stays(self, acme):
        user = acme.user()
        before = stored_of(acme, user)

        acme.browser().sign_in(user)

        assert stored_of(acme, user) == before

    def test_is_no_change_of_password(self, acme):
        """Sessions and tokens of the user go on, and the user was not edited."""
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)
        give(acme, user, weak(PASSWORD))

        acme.browser().sign_in(user)

        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200
        with acme.active():
            assert User.objects.get(pk=user.pk).updated_at == user.updated_at

    def test_an_administrators_too(self, acme):
        administrator = administrators.create(username=f"a-{acme.tenant.slug}", password=PASSWORD)
        type(administrator).objects.filter(pk=administrator.pk).update(password=weak(PASSWORD))

        sign_in.authenticate(username=administrator.username, password=PASSWORD)

        administrator.refresh_from_db()
        assert STORED.fullmatch(administrator.password)

    def test_an_administrators_rehash_does_not_undo_a_change_meanwhile(self, acme, monkeypatch):
        administrator = administrators.create(username=f"a-{acme.tenant.slug}", password=PASSWORD)
        rows = type(administrator).objects.filter(pk=administrator.pk)

        def changed_meanwhile(password, stored):
            rows.update(password="set meanwhile")
            return True, "a new hash of the old password"

        monkeypatch.setattr(passwords, "verify", changed_meanwhile)
        sign_in.authenticate(username=administrator.username, password=PASSWORD)

        assert rows.get().password == "set meanwhile"


class TestNobody:
    """What an unknown identifier costs."""

    def test_case_I01_is_one_hash_of_the_same_price(self, acme, monkeypatch):
        user = acme.user()
        paid = self.counted(monkeypatch)

        prices = []
        for identifier in (user.username, "nobody-at-all", "n@b.example", "99999999"):
            with acme.active(), pytest.raises(credentials.InvalidCredentials):
                credentials.authenticate(identifier=identifier, password="wrong password")
            prices.append(paid[:])
            paid.clear()

        assert prices == [["libsodium"]] * 4

    def test_case_I03_without_a_password_is_one_hash_too(self, acme, monkeypatch):
        user = acme.user()
        give(acme, user, "")
        paid = self.counted(monkeypatch)

        with acme.active(), pytest.raises(credentials.InvalidCredentials):
            credentials.authenticate(identifier=user.username, password="wrong password")

        assert paid == ["libsodium"]

    @staticmethod
    def counted(monkeypatch):
        """Return who is asked to hash from now on."""
        calls = []

        def watch(owner, name, library):
            function = getattr(owner, name)

            def asked(*given, **named):
                calls.append(library)
                return function(*given, **named)

            monkeypatch.setattr(owner, name, asked)

        watch(argon2.low_level, "hash_secret", "argon2-cffi")
        watch(argon2.PasswordHasher, "verify", "argon2-cffi")
        watch(nacl.pwhash, "verify", "libsodium")
        return calls


class TestTransactions:
    """A hash inside a transaction would hold SQLite's only write lock for its whole length."""

    @pytest.fixture
    def hashes(self, monkeypatch):
        """What each hash found: whether a transaction was open where it was asked for."""
        found: list[bool] = []
        run = passwords.HashingQueue.run

        def noting(places, work):
            found.append(connection.in_atomic_block)
            return run(places, work)

        monkeypatch.setattr(passwords.HashingQueue, "run", noting)
        return found

    def test_the_note_would_say_so(self, hashes):
        from django.db import transaction  # noqa: PLC0415 - to show what must not be

        with transaction.atomic():
            passwords.hash_password(PASSWORD)

        assert hashes == [True]

    def test_none_for_users(self, acme, hashes):
        user = acme.user(password=PASSWORD)
        with acme.active():
            assigned_passwords.set_password(user, "another password", is_proven=True)
            credentials.authenticate(identifier=user.username, password="another password")
            User.objects.filter(pk=user.pk).update(password=weak(PASSWORD))
            credentials.authenticate(identifier=user.username, password=PASSWORD)

        assert hashes == [False] * 5  # the last password is checked, and hashed again

    def test_none_for_administrators(self, acme, hashes):
        administrators.create(username=f"a-{acme.tenant.slug}", password=PASSWORD)
        sign_in.authenticate(username=f"a-{acme.tenant.slug}", password=PASSWORD)

        assert hashes == [False] * 2

    @pytest.mark.parametrize("password", [PASSWORD, "wrong password"])
    def test_none_at_any_door(self, acme, hashes, password):
        user = acme.user()
        hashes.clear()
        browser = Client()
        prefix = f"/t/{acme.tenant.slug}"

        browser.post(
            f"{prefix}{SIGN_IN}", {"identifier": user.username, "password": password}, "application/json"
        )
        browser.post(f"{prefix}/sign-in", {"identifier": user.username, "password": password})
        browser.post("/api/admin/sign-in", {"username": "admin", "password": password}, "application/json")

        assert hashes == [False] * 3
