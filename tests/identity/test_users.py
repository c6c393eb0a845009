"""What is done to users, and what ends at once when it is done."""

import secrets
from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import Entry
from identity.core.errors import Invalid
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from identity.users.models import User
from tests.support import cast
from tests.support.cast import PASSWORD
from tests.support.independent import bearer, claims_of
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
            # Whoever is asked for a second factor learns of it only after that.
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


class Visit:
    """Everything of a user that must end: two sessions, a code, tokens with and without a family."""

    def __init__(self, world):
        self.world = world
        self.client = world.application()
        self.user = world.user()
        self.browser, self.other = world.browser(), world.browser()
        self.lasting = self.client.tokens_for(self.user, self.browser)
        self.short = self.client.tokens_for(self.user, self.other, scope="openid profile")
        self.code = cast.query_of(self.browser.authorize(self.client).headers["Location"])["code"]

    def is_signed_in(self, browser):
        said = cast.query_of(browser.authorize(self.client, prompt="none").headers["Location"])
        return "code" in said

    def everything_works(self):
        assert self.is_signed_in(self.browser)
        assert self.is_signed_in(self.other)
        for tokens in (self.lasting, self.short):
            assert self.client.userinfo(tokens["access_token"]).status_code == 200

    def everything_is_dead(self):
        assert not self.is_signed_in(self.browser)
        assert not self.is_signed_in(self.other)
        for browser in (self.browser, self.other):
            assert browser.get("/account").headers["Location"].endswith("/sign-in")
        for tokens in (self.lasting, self.short):
            # Asked often enough that every worker has answered.
            answers = [self.client.userinfo(tokens["access_token"]) for _ in range(4)]
            assert {answer.status_code for answer in answers} == {401}
            assert 'error="invalid_token"' in answers[0].headers["WWW-Authenticate"]
        for answer in (self.client.refresh(self.lasting["refresh_token"]), self.client.redeem(self.code)):
            assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
            assert "token" not in answer.json()


@pytest.fixture
def visit(acme):
    visit = Visit(acme)
    visit.everything_works()
    return visit


class TestSuspend:
    def test_case_E14_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            users.suspend(visit.user)

        visit.everything_is_dead()

    def test_decision_I5_letting_in_again_revives_nothing(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            users.suspend(visit.user, suspended=False)

        visit.everything_is_dead()

    def test_who_is_let_in_again_can_sign_in(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            users.suspend(visit.user, suspended=False)

        tokens = visit.client.tokens_for(visit.user)

        assert visit.client.userinfo(tokens["access_token"]).status_code == 200

    def test_a_suspended_user_cannot_sign_in(self, visit):
        with visit.world.active():
            users.suspend(visit.user)

        answer = visit.browser.sign_in(visit.user)

        assert answer.status_code == 403
        assert answer.json() == {"code": 403, "message": "this account is suspended", "result": ""}

    def test_case_A19_with_a_live_cookie_the_sign_in_page_is_shown(self, visit):
        with visit.world.active():
            users.suspend(visit.user)

        answer = visit.browser.authorize(visit.client)

        assert "/sign-in?interaction=" in answer.headers["Location"]

    def test_other_users_stay(self, visit, acme):
        neighbour = acme.user()
        tokens = visit.client.tokens_for(neighbour)

        with acme.active():
            users.suspend(visit.user)

        assert visit.client.userinfo(tokens["access_token"]).status_code == 200

    def test_is_an_edit_and_written_down(self, visit):
        before = visit.user.updated_at
        with visit.world.active():
            users.suspend(visit.user)
            after = User.objects.get(pk=visit.user.pk)

        assert after.is_suspended
        assert after.updated_at > before
        [entry] = entries(visit.world, "User.Update")
        assert entry.payload == {
            "id": str(visit.user.pk),
            "fields": ["is_suspended"],
            "values": {"is_suspended": True},
            "before": {"is_suspended": False},
        }

    def test_decision_T2_not_from_another_tenant(self, visit, rival):
        with rival.active(), pytest.raises(Gone):
            users.suspend(visit.user)

        visit.everything_works()

    def test_case_M12_no_token_is_issued_after_the_suspension_returned(self, acme):
        client, user = acme.application(), acme.user()
        for _ in range(ROUNDS):
            families = [client.tokens_for(user)["refresh_token"] for _ in range(3)]

            def work(index, families=families):
                if index == 0:
                    with acme.active():
                        users.suspend(user)
                    return None
                answer = client.refresh(families[index - 1])
                assert answer.status_code in {200, 400}, answer.text
                return answer.json().get("access_token")

            issued = [token for token in at_once(4, work) if token]

            for token in issued:
                assert client.userinfo(token).status_code == 401
            for token in families:
                assert client.refresh(token).json()["error"] == "invalid_grant"
            with acme.active():
                users.suspend(user, suspended=False)

    def test_case_M12_a_sign_in_under_way_leaves_no_session(self, acme):
        client, user = acme.application(), acme.user()
        for _ in range(ROUNDS):
            browsers = [acme.browser() for _ in range(3)]

            def work(index, browsers=browsers):
                if index == 0:
                    with acme.active():
                        users.suspend(user)
                    return 0
                return browsers[index - 1].sign_in(user).status_code

            statuses = at_once(4, work)

            assert set(statuses) <= {0, 200, 401, 403}
            for browser in browsers:
                said = cast.query_of(browser.authorize(client, prompt="none").headers["Location"])
                assert said["error"] == "login_required"
            with acme.active():
                users.suspend(user, suspended=False)


class TestSetPassword:
    def test_case_E15_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            credentials.set_password(visit.user, "a new password")

        visit.everything_is_dead()

    def test_the_new_one_is_good_and_the_old_one_is_not(self, visit):
        with visit.world.active():
            credentials.set_password(visit.user, "a new password")

        assert visit.world.browser().sign_in(visit.user).status_code == 401
        assert visit.world.browser().sign_in(visit.user, "a new password").status_code == 200

    def test_case_I21_does_not_lift_a_suspension(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            credentials.set_password(visit.user, "a new password")

        assert visit.world.browser().sign_in(visit.user, "a new password").status_code == 403

    @pytest.mark.parametrize("password", ["", "12345", "x" * 257, "123456\0"])
    def test_one_that_may_not_be_set_changes_nothing(self, visit, password):
        with visit.world.active(), pytest.raises(Invalid) as refusal:
            credentials.set_password(visit.user, password)

        assert refusal.value.field == "password"
        visit.everything_works()

    def test_is_written_down_without_the_password(self, visit):
        with visit.world.active():
            credentials.set_password(visit.user, "canary password")

        [entry] = entries(visit.world, "User.Update")
        assert entry.payload == {"id": str(visit.user.pk), "fields": ["password"]}

    def test_decision_T2_not_from_another_tenant(self, visit, rival):
        with rival.active(), pytest.raises(Gone):
            credentials.set_password(visit.user, "a new password")

        visit.everything_works()
        assert visit.world.browser().sign_in(visit.user).status_code == 200

    def test_two_at_once_leave_one_of_the_two(self, acme):
        user = acme.user()
        candidates = ["first password", "second password"]

        def work(index):
            with acme.active():
                credentials.set_password(user, candidates[index])

        at_once(2, work)

        statuses = [acme.browser().sign_in(user, password).status_code for password in candidates]
        assert sorted(statuses) == [200, 401]

    def test_a_rehash_under_way_does_not_bring_the_old_one_back(self, acme, monkeypatch):
        """A sign-in that read the old hash, which is out of date, must not overwrite the new one."""
        user = acme.user("alice")

        def changed_meanwhile(password, stored):
            User.objects.filter(pk=user.pk).update(password="set meanwhile")
            return True, "the old password hashed anew"

        monkeypatch.setattr("identity.users.passwords.verify", changed_meanwhile)
        with acme.active():
            credentials.authenticate(identifier="alice", password=PASSWORD)

            assert User.objects.get(pk=user.pk).password == "set meanwhile"


class TestRemove:
    def test_case_E14_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            users.remove(visit.user)

        visit.everything_is_dead()

    def test_leaves_no_row_behind(self, visit):
        pk = visit.user.pk
        with visit.world.active():
            users.remove(visit.user)

            assert not User.objects.filter(pk=pk).exists()
            assert not Session.objects.filter(user_id=pk).exists()

    def test_case_F21_who_comes_after_under_the_same_name_is_another(self, visit):
        name, old = visit.user.username, claims_of(visit.lasting["access_token"])["sub"]
        with visit.world.active():
            users.remove(visit.user)
        successor = visit.world.user(name)

        tokens = visit.client.tokens_for(successor)

        assert claims_of(tokens["id_token"])["sub"] == str(successor.pk) != old
        assert visit.client.userinfo(visit.lasting["access_token"]).status_code == 401

    def test_case_N05_entries_about_the_user_stay(self, visit):
        pk = str(visit.user.pk)
        before = Entry.objects.filter(tenant_id=visit.world.tenant.pk, user_id=pk).count()
        with visit.world.active():
            users.remove(visit.user)

        assert before > 0
        assert Entry.objects.filter(tenant_id=visit.world.tenant.pk, user_id=pk).count() == before
        [entry] = entries(visit.world, "User.Delete")
        assert entry.payload == {"id": pk, "username": visit.user.username}

    def test_a_sign_in_after_is_one_by_nobody(self, visit):
        with visit.world.active():
            users.remove(visit.user)

        answer = visit.world.browser().sign_in(visit.user)

        assert (answer.status_code, answer.json()["code"]) == (401, 401)

    def test_removed_twice_at_once_is_removed_once(self, acme):
        user = acme.user()

        def work(_):
            with acme.active(), suppress(Gone):
                users.remove(user)

        at_once(4, work)

        assert len(entries(acme, "User.Delete")) == 1

    def test_decision_T2_not_from_another_tenant(self, visit, rival):
        with rival.active(), pytest.raises(Gone):
            users.remove(visit.user)

        visit.everything_works()
        assert not entries(rival, "User.Delete")

    def test_case_M12_an_exchange_under_way_leaves_no_token(self, acme):
        client = acme.application()
        for _ in range(2 * ROUNDS):
            user = acme.user()
            codes = [acme.browser().code_for(client, user) for _ in range(4)]

            def work(index, user=user, codes=codes):
                if index == 0:
                    with acme.active():
                        users.remove(user)
                    return None
                return client.redeem(codes[index - 1])

            answers = [answer for answer in at_once(5, work) if answer]

            with acme.active():
                assert not User.objects.filter(pk=user.pk).exists()
            for answer in answers:
                assert answer.status_code in {200, 400, 503}, answer.text
                token = answer.json().get("access_token")
                assert not token or client.userinfo(token).status_code == 401

    def test_a_sign_in_under_way_fails_without_a_fault(self, acme):
        user = acme.user()
        for _ in range(ROUNDS):

            def work(index, user=user):
                if index == 0:
                    with acme.active():
                        users.remove(user)
                    return 0
                return acme.browser().sign_in(user).status_code

            statuses = at_once(4, work)

            assert set(statuses) <= {0, 200, 401, 403}, statuses
            user = acme.user()


class TestLifetimes:
    @pytest.mark.parametrize(
        "aged",
        [
            {"last_used_at": timedelta(hours=24, seconds=1)},
            {"expires_at": timedelta(days=14, seconds=1)},
        ],
        ids=["idle", "absolute"],
    )
    def test_case_J18_a_session_ends_by_itself(self, acme, aged):
        visit = Visit(acme)
        with acme.active():
            for session in Session.objects.all():
                for field, age in aged.items():
                    setattr(session, field, getattr(session, field) - age)
                session.save()

        assert not visit.is_signed_in(visit.browser)
        assert visit.client.userinfo(visit.short["access_token"]).status_code == 401
        # What was granted offline access does not hang on the session.
        assert visit.client.userinfo(visit.lasting["access_token"]).status_code == 200

    def test_decision_O13_use_keeps_a_session_alive(self, acme):
        visit = Visit(acme)
        with acme.active():
            Session.objects.update(last_used_at=timezone.now() - timedelta(hours=23))
        assert visit.is_signed_in(visit.browser)

        with acme.active():
            used = Session.objects.latest("last_used_at")

        assert timezone.now() - used.last_used_at < timedelta(minutes=1)

    def test_a_session_of_another_tenant_is_not_touched(self, acme, rival):
        user = rival.user()
        rival.browser().sign_in(user)
        with acme.active():
            assert not Session.objects.exists()

        answer = acme.get("/oidc/userinfo", headers=bearer("x"))

        assert answer.status_code == 401
