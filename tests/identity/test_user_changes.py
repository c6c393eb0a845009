"""What a suspension, a new password and a deletion of a user end at once."""

from contextlib import suppress
from datetime import timedelta

import pytest
from django.utils import timezone

from audit.models import Entry
from identity.core.errors import Invalid
from identity.core.records import Gone
from identity.sessions.models import Session
from identity.users import assigned_passwords, credentials
from identity.users import services as users
from identity.users.models import User
from tests.support import cast
from tests.support.cast import PASSWORD
from tests.support.independent import bearer, claims_of
from tests.support.threads import at_once

ROUNDS = 3


def entries(world, key):
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "id"))


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

    def find_broken(self) -> list[str]:
        """What does not work of the sessions and access tokens. The code and refresh token stay unused."""
        works = {
            "the session": self.is_signed_in(self.browser),
            "the other session": self.is_signed_in(self.other),
            "the token of a family": self.client.userinfo(self.lasting["access_token"]).status_code == 200,
            "the token of a session": self.client.userinfo(self.short["access_token"]).status_code == 200,
        }
        return [name for name, is_true in works.items() if not is_true]

    def find_left(self) -> list[str]:
        """What still works, or is refused otherwise than what has ended."""
        is_over = {
            "the session": not self.is_signed_in(self.browser),
            "the other session": not self.is_signed_in(self.other),
            "the account page": self.must_sign_in(self.browser),
            "the other account page": self.must_sign_in(self.other),
            "the token of a family": self.is_invalid(self.lasting["access_token"]),
            "the token of a session": self.is_invalid(self.short["access_token"]),
            "the refresh token": is_refused(self.client.refresh(self.lasting["refresh_token"])),
            "the code": is_refused(self.client.redeem(self.code)),
        }
        return [name for name, is_true in is_over.items() if not is_true]

    @staticmethod
    def must_sign_in(browser):
        return browser.get("/account").headers.get("Location", "").endswith("/sign-in")

    def is_invalid(self, token):
        # Asked often enough that every worker has answered.
        answers = [self.client.userinfo(token) for _ in range(4)]
        reason = answers[0].headers.get("WWW-Authenticate", "")
        return {answer.status_code for answer in answers} == {401} and 'error="invalid_token"' in reason


def is_refused(answer):
    body = answer.json()
    return (answer.status_code, body.get("error")) == (400, "invalid_grant") and "token" not in body


@pytest.fixture
def visit(acme):
    visit = Visit(acme)
    assert visit.find_broken() == []
    return visit


class TestSuspend:
    def test_case_E14_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            users.suspend(visit.user)

        assert visit.find_left() == []

    def test_decision_I5_letting_in_again_revives_nothing(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            users.reactivate(visit.user)

        assert visit.find_left() == []

    def test_who_is_let_in_again_can_sign_in(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            users.reactivate(visit.user)

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

        assert visit.find_broken() == []

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
                users.reactivate(user)

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
                users.reactivate(user)


class TestSetPassword:
    def test_case_E15_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            assigned_passwords.set_password(visit.user, "a new password", is_proven=True)

        assert visit.find_left() == []

    def test_the_new_one_is_good_and_the_old_one_is_not(self, visit):
        with visit.world.active():
            assigned_passwords.set_password(visit.user, "a new password", is_proven=True)

        assert visit.world.browser().sign_in(visit.user).status_code == 401
        assert visit.world.browser().sign_in(visit.user, "a new password").status_code == 200

    def test_case_I21_does_not_lift_a_suspension(self, visit):
        with visit.world.active():
            users.suspend(visit.user)
            assigned_passwords.set_password(visit.user, "a new password", is_proven=True)

        assert visit.world.browser().sign_in(visit.user, "a new password").status_code == 403

    @pytest.mark.parametrize("password", ["", "12345", "x" * 257, "123456\0"])
    def test_one_that_may_not_be_set_changes_nothing(self, visit, password):
        with visit.world.active(), pytest.raises(Invalid) as refusal:
            assigned_passwords.set_password(visit.user, password, is_proven=True)

        assert refusal.value.field == "password"
        assert visit.find_broken() == []

    def test_is_written_down_without_the_password(self, visit):
        with visit.world.active():
            assigned_passwords.set_password(visit.user, "canary password", is_proven=True)

        [entry] = entries(visit.world, "User.Update")
        assert entry.payload == {"id": str(visit.user.pk), "fields": ["password"]}

    def test_decision_T2_not_from_another_tenant(self, visit, rival):
        with rival.active(), pytest.raises(Gone):
            assigned_passwords.set_password(visit.user, "a new password", is_proven=True)

        assert visit.find_broken() == []
        assert visit.world.browser().sign_in(visit.user).status_code == 200

    def test_two_at_once_leave_one_of_the_two(self, acme):
        user = acme.user()
        candidates = ["first password", "second password"]

        def work(index):
            with acme.active():
                assigned_passwords.set_password(user, candidates[index], is_proven=True)

        at_once(2, work)

        statuses = [acme.browser().sign_in(user, password).status_code for password in candidates]
        assert sorted(statuses) == [200, 401]

    def test_a_rehash_under_way_does_not_bring_the_old_one_back(self, acme, monkeypatch):
        """A sign-in that read the old hash, which is out of date, must not overwrite the new one."""
        user = acme.user("alice")

        def changed_meanwhile(password, stored):
            User.objects.filter(pk=user.pk).update(password="set meanwhile")
            return True, "a new hash of the old password"

        monkeypatch.setattr("identity.users.passwords.verify", changed_meanwhile)
        with acme.active():
            credentials.authenticate(identifier="alice", password=PASSWORD)

            assert User.objects.get(pk=user.pk).password == "set meanwhile"


class TestRemove:
    def test_case_E14_ends_sessions_codes_and_tokens_at_once(self, visit):
        with visit.world.active():
            users.remove(visit.user)

        assert visit.find_left() == []

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

        assert visit.find_broken() == []
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
