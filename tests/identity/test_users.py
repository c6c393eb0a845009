"""Creating users, and signing them in."""

import secrets

import pytest

from audit.models import Entry
from identity.core.errors import Invalid
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from tests.support.cast import PASSWORD
from tests.support.threads import at_once

ROUNDS = 3


def entries(world, key):
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id"))


class TestCreate:
    def test_keeps_what_it_is_given(self, acme):
        with acme.active():
            made = users.create(
                username="Alice",
                password=PASSWORD,
                name="Alice Example",
                email="Alice@Example.com",
                phone="+49 30 12-34.56",
                avatar="https://img.example/a.png",
            )
            user = User.objects.get(pk=made.pk)

        assert (user.username, user.name, user.email) == ("Alice", "Alice Example", "Alice@Example.com")
        assert (user.phone, user.avatar) == ("+4930123456", "https://img.example/a.png")
        assert (user.is_suspended, user.login_count, user.last_sign_in_at) == (False, 0, None)
        assert user.tenant_id == acme.tenant.pk

    def test_decision_I4_what_an_administrator_sets_is_unverified(self, acme):
        user = acme.user(email="a@b.example", phone="12345")

        assert (user.email_verified, user.phone_verified) == (False, False)

    def test_decision_H7_what_is_unset_is_empty(self, acme):
        user = acme.user()

        assert (user.name, user.email, user.phone, user.avatar) == ("", "", "", None)

    def test_many_may_have_no_email_and_no_phone(self, acme):
        for _ in range(3):
            acme.user()

        with acme.active():
            assert User.objects.filter(email="", phone="").count() == 3

    def test_decision_H8_ids_are_version_7_and_grow(self, acme):
        made = [acme.user().pk for _ in range(5)]

        assert {pk.version for pk in made} == {7}
        assert made == sorted(made)

    @pytest.mark.parametrize(
        ("first", "second", "field"),
        [
            ({"username": "alice"}, {"username": "ALICE"}, "username"),
            ({"email": "a@b.example"}, {"email": "A@B.EXAMPLE"}, "email"),
            ({"phone": "+4930123456"}, {"phone": "49 30 123456"}, "phone"),
        ],
        ids=["username", "email", "phone"],
    )
    def test_decision_I1_what_somebody_has_is_refused(self, acme, first, second, field):
        acme.user(**first)

        with acme.active(), pytest.raises(Invalid) as refusal:
            users.create(**({"username": "other", "password": PASSWORD} | second))

        assert refusal.value.message == f"{field}: already exists"
        with acme.active():
            assert User.objects.count() == 1
        assert len(entries(acme, "User.Create")) == 1

    def test_decision_T2_another_tenant_may_have_the_same(self, acme, rival):
        fields = {"email": "a@b.example", "phone": "+4930123456"}

        assert acme.user("alice", **fields).pk != rival.user("alice", **fields).pk

    @pytest.mark.parametrize("password", ["", "12345", "x" * 257, "12345\0", "\0" * 8])
    def test_passwords_that_may_not_be_set(self, acme, password):
        with acme.active(), pytest.raises(Invalid) as refusal:
            users.create(username="alice", password=password)

        assert refusal.value.field == "password"
        assert password not in refusal.value.message or not password
        with acme.active():
            assert not User.objects.exists()

    @pytest.mark.parametrize(
        "password",
        ["123456", "x" * 256, " leading and trailing ", "пароль", "😀😀😀😀😀😀", "a\tb\nc d", "é" * 100],
    )
    def test_case_I22_passwords_are_taken_whole(self, acme, password):
        with acme.active():
            user = users.create(username="alice", password=password)

            assert credentials.authenticate(identifier="alice", password=password) == user
            for wrong in (password[:-1], password + " ", password.strip() + "x"):
                with pytest.raises(credentials.InvalidCredentials):
                    credentials.authenticate(identifier="alice", password=wrong)

    def test_case_I22_the_73rd_byte_matters(self, acme):
        user = acme.user("alice", password="x" * 72 + "a")

        with acme.active():
            assert credentials.authenticate(identifier="alice", password="x" * 72 + "a") == user
            with pytest.raises(credentials.InvalidCredentials):
                credentials.authenticate(identifier="alice", password="x" * 72 + "b")

    def test_a_bad_email_makes_nobody(self, acme):
        with acme.active(), pytest.raises(Invalid):
            users.create(username="alice", password=PASSWORD, email="nonsense")

        with acme.active():
            assert not User.objects.exists()

    @pytest.mark.parametrize("field", ["username", "email", "phone"])
    def test_case_M05_one_of_many_at_once_wins_and_the_others_are_told(self, acme, field):
        for round_number in range(ROUNDS):
            shared = {
                "username": f"race{round_number}",
                "email": f"race{round_number}@b.example",
                "phone": f"+49301234{round_number}",
            }[field]

            def work(index, shared=shared):
                fields = {"username": f"u-{secrets.token_hex(6)}", "password": PASSWORD, field: shared}
                try:
                    with acme.active():
                        return users.create(**fields).pk
                except Invalid as refusal:
                    return refusal.message

            answers = at_once(8, work)

            refused = [answer for answer in answers if isinstance(answer, str)]
            assert refused == [f"{field}: already exists"] * 7

        with acme.active():
            assert User.objects.count() == ROUNDS
        assert len(entries(acme, "User.Create")) == ROUNDS


class TestAuthenticate:
    def test_by_any_identifier(self, acme):
        user = acme.user("alice", email="a@b.example", phone="+4930123456")

        with acme.active():
            for identifier in ("alice", "ALICE", "a@b.example", "+49 30 123456", "4930123456"):
                assert credentials.authenticate(identifier=identifier, password=PASSWORD) == user

    @pytest.mark.parametrize("identifier", ["nobody", "n@b.example", "99999", "", "' OR ''='", "%"])
    def test_case_I01_nobody_and_a_wrong_password_are_one_refusal(self, acme, identifier):
        acme.user("alice")

        refusals = []
        for name, password in ((identifier, PASSWORD), ("alice", "wrong password")):
            with acme.active(), pytest.raises(credentials.InvalidCredentials) as refusal:
                credentials.authenticate(identifier=name, password=password)
            refusals.append((refusal.value.status, refusal.value.reason, refusal.value.message))

        assert refusals[0] == refusals[1]
        assert refusals[0][0] == 401

    @pytest.mark.parametrize("password", ["", PASSWORD, "!"])
    @pytest.mark.parametrize("stored", ["", "!", "!unusable", "plain", "md5$salt$hash"])
    def test_case_I03_without_a_usable_password_nothing_opens(self, acme, stored, password):
        user = acme.user("alice")
        with acme.active():
            User.objects.filter(pk=user.pk).update(password=stored)

            with pytest.raises(credentials.InvalidCredentials):
                credentials.authenticate(identifier="alice", password=password)

    def test_decision_X3_only_the_right_password_learns_of_a_suspension(self, acme):
        user = acme.user("alice")
        with acme.active():
            users.suspend(user)

            with pytest.raises(credentials.InvalidCredentials):
                credentials.authenticate(identifier="alice", password="wrong password")
            # A user who is asked for a second factor learns of it only after that.
            assert credentials.authenticate(identifier="alice", password=PASSWORD).is_suspended
        right, wrong = acme.browser().sign_in(user), acme.browser().sign_in(user, password="wrong")
        assert (right.status_code, wrong.status_code) == (403, 401)
        assert "suspended" in right.json()["message"]

    def test_decision_I4_a_sign_in_counts_and_is_no_edit(self, acme):
        user = acme.user("alice")
        before = user.updated_at

        for _ in range(2):
            acme.browser().sign_in(user)

        with acme.active():
            after = User.objects.get(pk=user.pk)
        assert after.login_count == 2
        assert after.last_sign_in_at > before
        assert after.updated_at == before

    def test_a_failed_sign_in_does_not_count(self, acme):
        user = acme.user("alice")

        acme.browser().sign_in(user, password="wrong password")

        with acme.active():
            assert User.objects.get(pk=user.pk).login_count == 0

    def test_sign_ins_at_once_are_all_counted(self, acme):
        user = acme.user("alice")

        def work(_):
            with acme.active():
                credentials.record_sign_in(user)

        at_once(6, work)

        with acme.active():
            assert User.objects.get(pk=user.pk).login_count == 6
