"""What keeps a user signed in, and how administrators end it: sessions, refresh tokens, all at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from database import ids
from identity.sessions import known_users
from identity.sessions.models import Session
from oidc.applications.models import Application
from oidc.grants.models import RefreshFamily
from tests.support import management
from tests.support.account import entries, is_signed_in
from tests.support.cast import PASSWORD, Browser, signed_in
from tests.support.management import Caller, refusal_of, result_of
from tests.support.operators import administrator
from tests.support.threads import at_once, rounds

NOBODY = "01900000-0000-7000-8000-000000000000"


def rows_at(caller: Caller, path: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result_of(caller.get(path))["data"]
    return rows


def is_refused(answer: Any) -> bool:
    return bool(answer.status_code == 400 and answer.json()["error"] == "invalid_grant")


class TestSessions:
    def test_are_listed_while_they_live_the_newest_first(self, acme, admin):
        first, user = signed_in(acme)
        second = acme.browser()
        second.http.headers["User-Agent"] = "Firefox on a kiosk"
        second.sign_in(user)
        signed_in(acme)
        path = f"/users/{user.pk}/sessions"

        newest, oldest = rows_at(admin, path)
        first.post("/oidc/end-session", data={"confirmed": "yes"})
        result_of(admin.delete(f"{path}/{oldest['id']}"))

        assert newest["user_agent"] == "Firefox on a kiosk"
        assert (newest["ip"], newest["application_id"]) == ("127.0.0.1", None)
        assert newest["created_at"] >= oldest["created_at"]
        assert [row["id"] for row in rows_at(admin, path)] == [newest["id"]]

    def test_one_ends_with_its_access_tokens_and_the_others_stay(self, acme, admin):
        here, user = signed_in(acme)
        client, there = acme.application(), acme.browser()
        token = client.tokens_for(user, there, scope="openid")["access_token"]
        newest = rows_at(admin, f"/users/{user.pk}/sessions")[0]["id"]

        result_of(admin.delete(f"/users/{user.pk}/sessions/{newest}"))

        assert [is_signed_in(here), is_signed_in(there)] == [True, False]
        assert client.userinfo(token).status_code == 401
        [entry] = entries(acme, "Session.End")
        assert (entry.user_id, entry.payload["session_id"]) == (str(user.pk), newest)

    def test_all_end_and_refresh_tokens_stay(self, acme, admin):
        here, user = signed_in(acme)
        client, there = acme.application(), acme.browser()
        tokens = client.tokens_for(user, there)
        bystander, _ = signed_in(acme)
        path = f"/users/{user.pk}/sessions"

        result_of(admin.delete(path))

        assert [is_signed_in(one) for one in (here, there, bystander)] == [False, False, True]
        assert client.refresh(tokens["refresh_token"]).status_code == 200
        assert rows_at(admin, path) == []
        assert entries(acme, "Session.End")[0].payload["count"] == 2
        result_of(admin.delete(path))
        assert len(entries(acme, "Session.End")) == 1

    def test_of_another_user_are_unknown_below_this_one(self, acme, admin):
        mine, theirs = acme.user(), acme.user()
        browser = acme.browser()
        browser.sign_in(theirs)
        session = rows_at(admin, f"/users/{theirs.pk}/sessions")[0]["id"]

        message = refusal_of(admin.delete(f"/users/{mine.pk}/sessions/{session}"), 404)

        assert message == "session not found"
        assert is_signed_in(browser)
        assert refusal_of(admin.get(f"/users/{NOBODY}/sessions"), 404) == "user not found"


class TestGrants:
    def test_are_listed_with_the_application_and_the_browser_of_the_sign_in(self, acme, admin):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        browser.http.headers["User-Agent"] = "A browser"
        tokens = client.tokens_for(user, browser)
        path = f"/users/{user.pk}/grants"

        [before] = rows_at(admin, path)
        client.refresh(tokens["refresh_token"])
        [after] = rows_at(admin, path)

        assert before["application_id"] == str(client.application.pk)
        assert (before["ip"], before["user_agent"]) == ("127.0.0.1", "A browser")
        assert after["last_used_at"] > before["last_used_at"]
        assert after | {"last_used_at": ""} == before | {"last_used_at": ""}

    def test_stay_listed_when_their_session_is_deleted(self, acme, admin):
        client, user = acme.application(), acme.user()
        client.tokens_for(user)
        with acme.active():
            Session.objects.all().delete()

        [row] = rows_at(admin, f"/users/{user.pk}/grants")

        assert (row["ip"], row["user_agent"]) == ("", "")

    def test_that_cannot_be_refreshed_any_more_are_not_listed(self, acme, admin):
        client, user = acme.application(refresh_token_idle_seconds=3600), acme.user()
        client.tokens_for(user)
        with acme.active():
            RefreshFamily.objects.update(rotated_at=timezone.now() - timedelta(hours=2))

        assert rows_at(admin, f"/users/{user.pk}/grants") == []

    def test_one_ends_with_its_access_tokens_and_the_others_stay(self, acme, admin):
        user, browser = acme.user(), acme.browser()
        first, second = acme.application(), acme.application()
        kept, ended = first.tokens_for(user, browser), second.tokens_for(user, browser)
        family = rows_at(admin, f"/users/{user.pk}/grants")[0]["id"]

        result_of(admin.delete(f"/users/{user.pk}/grants/{family}"))

        assert is_refused(second.refresh(ended["refresh_token"]))
        assert second.userinfo(ended["access_token"]).status_code == 401
        assert first.refresh(kept["refresh_token"]).status_code == 200
        assert is_signed_in(browser)
        [entry] = entries(acme, "Token.Revoke")
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(second.application.pk))
        assert (entry.payload["reason"], entry.payload["family_id"]) == ("ended_by_administrator", family)

    def test_all_end_and_codes_that_nobody_has_redeemed(self, acme, admin):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        code = browser.code_for(client, user)
        bystander = client.tokens_for(acme.user())
        path = f"/users/{user.pk}/grants"

        result_of(admin.delete(path))

        assert is_refused(client.refresh(tokens["refresh_token"]))
        assert is_refused(client.redeem(code))
        assert client.refresh(bystander["refresh_token"]).status_code == 200
        assert rows_at(admin, path) == []
        assert entries(acme, "Token.Revoke")[-1].payload["families"] == 1

    def test_of_another_user_are_unknown_below_this_one(self, acme, admin):
        client, mine, theirs = acme.application(), acme.user(), acme.user()
        tokens = client.tokens_for(theirs)
        family = rows_at(admin, f"/users/{theirs.pk}/grants")[0]["id"]

        message = refusal_of(admin.delete(f"/users/{mine.pk}/grants/{family}"), 404)

        assert message == "grant not found"
        assert client.refresh(tokens["refresh_token"]).status_code == 200


class TestSignOut:
    def test_ends_sessions_codes_and_refresh_tokens_and_the_user_can_sign_in_again(self, acme, admin):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        code = browser.code_for(client, user)

        result_of(admin.request("POST", f"/users/{user.pk}/sign-out"))

        assert not is_signed_in(browser)
        assert is_refused(client.refresh(tokens["refresh_token"]))
        assert is_refused(client.redeem(code))
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert [rows_at(admin, f"/users/{user.pk}/{kind}") for kind in ("sessions", "grants")] == [[], []]
        assert browser.sign_in(user).status_code == 200
        [entry] = entries(acme, "User.SignOut")
        assert entry.payload["id"] == str(user.pk)

    def test_forgets_the_browsers_that_know_the_user(self, acme, admin):
        browser, user = signed_in(acme)
        cookie = browser.http.cookies[f"gatehouse-known.{acme.tenant.slug}"]

        result_of(admin.request("POST", f"/users/{user.pk}/sign-out"))

        with acme.active():
            user.refresh_from_db()
            [mark] = known_users.parse(cookie).marks
            assert not known_users.parse(cookie).is_current(mark.device, user)

    def test_does_nothing_to_a_user_who_was_changed_since(self, acme, admin):
        browser, user = signed_in(acme)
        tag = admin.get(f"/users/{user.pk}").headers["ETag"]
        result_of(admin.patch(f"/users/{user.pk}", name="Ada"))

        refusal_of(admin.saying(if_match=tag).request("POST", f"/users/{user.pk}/sign-out"), 412)

        assert is_signed_in(browser)


class TestGrantsOfAnApplication:
    def test_all_end_for_every_user_and_those_of_other_applications_stay(self, acme, admin):
        client, other = acme.application(), acme.application()
        ada, bob = acme.user(), acme.user()
        browser = acme.browser()
        ended = [client.tokens_for(ada, browser), client.tokens_for(bob)]
        code = browser.code_for(client, ada)
        kept = other.tokens_for(ada, browser)

        result_of(admin.delete(f"/applications/{client.application.pk}/grants"))

        assert all(is_refused(client.refresh(tokens["refresh_token"])) for tokens in ended)
        assert [client.userinfo(tokens["access_token"]).status_code for tokens in ended] == [401, 401]
        assert is_refused(client.redeem(code))
        assert other.refresh(kept["refresh_token"]).status_code == 200
        assert is_signed_in(browser)
        [entry] = entries(acme, "Token.Revoke")
        assert entry.application_id == str(client.application.pk)
        assert (entry.payload["reason"], entry.payload["families"]) == ("ended_by_administrator", 2)

    def test_a_program_that_ends_those_of_another_application_is_named(self, acme):
        client, program = acme.application(), management.machine(acme)
        tokens = client.tokens_for(acme.user())

        result_of(program.delete(f"/applications/{client.application.pk}/grants"))

        assert is_refused(client.refresh(tokens["refresh_token"]))
        [entry] = entries(acme, "Token.Revoke")
        assert entry.application_id == str(client.application.pk)
        with acme.active():
            others = Application.objects.exclude(pk=client.application.pk)
            assert entry.payload["caller_id"] in set(map(str, others.values_list("pk", flat=True)))

    def test_more_than_a_batch_leave_one_entry(self, acme, admin):
        client, user = acme.application(), acme.user()
        client.tokens_for(user)
        with acme.active():
            family = RefreshFamily.objects.get()
            copies = [RefreshFamily.objects.get() for _ in range(1200)]
            for copy in copies:
                copy.pk = ids.new()
            RefreshFamily.objects.bulk_create(copies)

        result_of(admin.delete(f"/applications/{client.application.pk}/grants"))

        with acme.active():
            assert not RefreshFamily.objects.live().exists()
            family.refresh_from_db()
            assert family.end_reason == "ended_by_administrator"
        [entry] = entries(acme, "Token.Revoke")
        assert entry.payload["families"] == 1201

    def test_no_refresh_at_the_same_moment_survives(self, acme, admin):
        client = acme.application()
        path = f"/applications/{client.application.pk}/grants"
        for _ in range(rounds(3)):
            newest = [client.tokens_for(acme.user())["refresh_token"] for _ in range(4)]

            def work(index: int, newest: list[str] = newest) -> Any:
                if index == 4:
                    return admin.delete(path)
                answer = client.refresh(newest[index])
                if answer.status_code == 200:
                    newest[index] = answer.json()["refresh_token"]
                return answer

            answers = at_once(5, work)

            assert answers[4].status_code == 200
            assert [answer.status_code in {200, 400} for answer in answers[:4]] == [True] * 4
            assert all(is_refused(client.refresh(token)) for token in newest)

    def test_two_calls_at_the_same_moment_do_not_stop_each_other(self, acme, admin):
        client, user = acme.application(), acme.user()
        client.tokens_for(user)
        paths = [f"/applications/{client.application.pk}/grants", f"/users/{user.pk}/grants"]

        answers = at_once(4, lambda index: admin.delete(paths[index % 2]))

        assert [answer.status_code for answer in answers] == [200] * 4
        assert rows_at(admin, paths[1]) == []


class TestRoles:
    @pytest.mark.parametrize("role", ["support", "auditor"])
    def test_support_may_end_the_access_of_a_user_and_not_of_an_application(self, acme, role):
        who = administrator(role=role, tenants=[acme.tenant.slug])
        caller = Caller(acme, management.administrator_token(who.username, PASSWORD, acme.address))
        client, user = acme.application(), acme.user()
        client.tokens_for(user)
        own = 200 if role == "support" else 403

        statuses = [
            caller.request(method, path).status_code
            for method, path in (
                ("DELETE", f"/users/{user.pk}/sessions"),
                ("DELETE", f"/users/{user.pk}/grants"),
                ("POST", f"/users/{user.pk}/sign-out"),
                ("DELETE", f"/applications/{client.application.pk}/grants"),
            )
        ]

        assert statuses == [own, own, own, 403]
        assert caller.get(f"/users/{user.pk}/sessions").status_code == 200


class TestMyAccount:
    def own(self, browser: Browser, kind: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = result_of(browser.get(f"/api/my-account/{kind}"))["data"]
        return rows

    def end(self, browser: Browser, path: str, **headers: str) -> Any:
        return browser.http.delete(f"{browser.world.address}/api/my-account/{path}", headers=headers)

    def test_lists_the_sessions_and_marks_that_of_this_browser(self, acme):
        here, user = signed_in(acme)
        there = acme.browser()
        there.sign_in(user)
        signed_in(acme)

        answer = here.get("/api/my-account/sessions")

        rows = result_of(answer)["data"]
        assert [row["is_current"] for row in rows] == [False, True]
        assert answer.headers["Cache-Control"] == "no-store"
        assert set(rows[0]) == {
            *("id", "application_id", "created_at", "last_used_at", "ip", "user_agent", "is_current")
        }

    def test_ends_one_session_or_all(self, acme):
        here, user = signed_in(acme)
        there = acme.browser()
        there.sign_in(user)
        other = next(row["id"] for row in self.own(here, "sessions") if not row["is_current"])

        result_of(self.end(here, f"sessions/{other}"))
        assert [is_signed_in(here), is_signed_in(there)] == [True, False]
        assert entries(acme, "Session.End")[0].user_id == str(user.pk)
        result_of(self.end(here, "sessions"))

        assert not is_signed_in(here)

    def test_ends_one_refresh_token_or_all(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        first, second, third = (client.tokens_for(user, browser)["refresh_token"] for _ in range(3))
        newest = self.own(browser, "grants")[0]["id"]

        result_of(self.end(browser, f"grants/{newest}"))
        assert is_refused(client.refresh(third))
        first = client.refresh(first).json()["refresh_token"]
        result_of(self.end(browser, "grants"))

        assert all(is_refused(client.refresh(token)) for token in (first, second))
        assert self.own(browser, "grants") == []
        assert {entry.payload["reason"] for entry in entries(acme, "Token.Revoke")} == {"ended_by_user"}

    def test_knows_nothing_of_other_users(self, acme, rival):
        browser, _ = signed_in(acme)
        for world in (acme, rival):
            other, user = signed_in(world)
            world.application().tokens_for(user, other)
            for kind in ("sessions", "grants"):
                theirs = self.own(other, kind)[0]["id"]

                refusal_of(self.end(browser, f"{kind}/{theirs}"), 404)

                assert len(self.own(other, kind)) > 0
        assert self.own(browser, "grants") == []

    @pytest.mark.parametrize("path", ["sessions", "grants", f"sessions/{NOBODY}", f"grants/{NOBODY}"])
    def test_needs_a_session_and_the_same_origin(self, acme, path):
        browser, user = signed_in(acme)
        token = acme.application().tokens_for(user)["access_token"]
        nobody = acme.browser()

        refusal_of(self.end(nobody, path), 401)
        refusal_of(self.end(nobody, path, Authorization=f"Bearer {token}"), 401)
        refusal_of(self.end(browser, path, Origin="https://evil.example"), 403)
        refusal_of(self.end(browser, path, **{"Sec-Fetch-Site": "cross-site"}), 403)
        if NOBODY not in path:
            refusal_of(nobody.get(f"/api/my-account/{path}"), 401)
            foreign = browser.get(f"/api/my-account/{path}", headers={"Origin": "https://evil.example"})
            refusal_of(foreign, 403)
            refusal_of(browser.post(f"/api/my-account/{path}", json={}), 405)

        assert is_signed_in(browser)
