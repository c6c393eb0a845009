"""Browser sessions: when they begin, what they are worth, and when they end."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
from django.utils import timezone

from audit.models import Entry
from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from identity.users.models import User
from tests.support import cast
from tests.support.cast import PASSWORD, Browser, World, query_of
from tests.support.forms import form


def name(world: World) -> str:
    return f"gatehouse-session.{world.tenant.slug}"


def secret(browser: Browser) -> str:
    return browser.http.cookies[name(browser.world)]


def with_secret(world: World, value: str, path: str = "/account") -> httpx.Response:
    """Ask as a browser that has this session cookie and nothing else."""
    return world.get(path, headers={"Cookie": f"{name(world)}={value}"})


def is_signed_in(answer: httpx.Response) -> bool:
    """Tell from the account page, which either shows somebody or leads to the sign-in page."""
    if answer.status_code == 200:
        return True
    assert answer.headers["Location"].endswith("/sign-in")
    return False


def claims(tokens: dict[str, Any]) -> dict[str, Any]:
    decoded: dict[str, Any] = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    return decoded


def age(world: World, **columns: timedelta) -> None:
    """Make the sessions of a tenant older than they are."""
    with world.active():
        for session in Session.objects.all():
            changes = {column: getattr(session, column) - by for column, by in columns.items()}
            Session.objects.filter(pk=session.pk).update(**changes)


def signed_in(world: World) -> Browser:
    browser = world.browser()
    browser.sign_in(world.user())
    return browser


def sign_out(browser: Browser) -> None:
    assert form(browser.get("/account")).submit(browser).status_code == 200


class TestLife:
    @pytest.mark.parametrize(("hours", "lives"), [(23.9, True), (24.1, False)])
    def test_decision_O13_ends_a_day_after_its_last_use(self, acme, hours, lives):
        browser = signed_in(acme)

        age(acme, last_used_at=timedelta(hours=hours))

        assert is_signed_in(browser.get("/account")) is lives

    def test_decision_O13_use_keeps_it(self, acme):
        browser = signed_in(acme)

        for _ in range(3):
            age(acme, last_used_at=timedelta(hours=20))
            assert is_signed_in(browser.get("/account"))

        with acme.active():
            assert timezone.now() - Session.objects.get().last_used_at < timedelta(minutes=1)

    def test_decision_O13_authorizing_is_use(self, acme):
        browser, client = signed_in(acme), acme.application()
        age(acme, last_used_at=timedelta(hours=20))

        browser.authorize(client)

        with acme.active():
            assert timezone.now() - Session.objects.get().last_used_at < timedelta(minutes=1)

    def test_is_not_written_at_every_use(self, acme):
        browser = signed_in(acme)
        with acme.active():
            before = Session.objects.get().last_used_at

        browser.get("/account")

        with acme.active():
            assert Session.objects.get().last_used_at == before

    @pytest.mark.parametrize(("days", "lives"), [(13.99, True), (14.01, False)])
    def test_decision_O13_ends_fourteen_days_after_the_sign_in_however_often_used(self, acme, days, lives):
        browser = signed_in(acme)

        age(acme, expires_at=timedelta(days=days), auth_time=timedelta(days=days))

        assert is_signed_in(browser.get("/account")) is lives

    def test_an_expired_one_answers_no_request(self, acme):
        browser, client = signed_in(acme), acme.application()

        age(acme, expires_at=timedelta(days=15))

        silent = query_of(browser.authorize(client, prompt="none").headers["Location"])
        assert silent["error"] == "login_required"

    @pytest.mark.parametrize(
        "end",
        [
            users.suspend,
            users.remove,
            lambda user: assigned_passwords.set_password(user, "something else", is_proven=True),
            lambda user: User.objects.filter(pk=user.pk).update(is_suspended=True),
        ],
        ids=["suspended", "deleted", "new password", "suspended by hand"],
    )
    def test_decision_I5_ends_with_what_it_stands_on_in_every_browser(self, acme, end):
        user = acme.user()
        browsers = [acme.browser() for _ in range(2)]
        bystander = signed_in(acme)
        for browser in browsers:
            browser.sign_in(user)

        with acme.active():
            end(user)

        assert [is_signed_in(browser.get("/account")) for browser in browsers] == [False, False]
        assert is_signed_in(bystander.get("/account"))

    def test_case_A19_does_not_come_back_when_the_suspension_ends(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)

        with acme.active():
            users.suspend(user)
            users.reactivate(user)

        assert not is_signed_in(browser.get("/account"))

    def test_case_E13_the_cookie_of_an_ended_one_is_worth_nothing(self, acme):
        browser, client = signed_in(acme), acme.application()
        kept = secret(browser)

        sign_out(browser)

        assert name(acme) not in browser.http.cookies
        assert not is_signed_in(with_secret(acme, kept))
        silent = acme.get(
            "/oidc/authorize",
            params=client.request(prompt="none"),
            headers={"Cookie": f"{name(acme)}={kept}"},
        )
        assert query_of(silent.headers["Location"])["error"] == "login_required"

    def test_case_I29_a_new_sign_in_does_not_bring_an_ended_one_back(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        kept = secret(browser)
        sign_out(browser)

        acme.post(
            "/api/interaction/sign-in",
            json={"identifier": user.username, "password": PASSWORD},
            headers={"Cookie": f"{name(acme)}={kept}"},
        )

        with acme.active():
            assert Session.objects.filter(ended_at=None).count() == 1
            assert Session.objects.exclude(ended_at=None).count() == 1
        assert not is_signed_in(with_secret(acme, kept))

    def test_signing_out_in_one_browser_leaves_the_others(self, acme):
        user = acme.user()
        here, there = acme.browser(), acme.browser()
        for browser in (here, there):
            browser.sign_in(user)

        sign_out(here)

        assert is_signed_in(there.get("/account"))

    def test_remembers_how_when_and_from_where(self, acme):
        browser, user = acme.browser(), acme.user()
        browser.http.headers["User-Agent"] = "Some browser"

        browser.sign_in(user)

        with acme.active():
            session = Session.objects.get()
        assert (session.amr, session.ip, session.user_agent) == (["pwd"], "127.0.0.1", "Some browser")
        assert timezone.now() - session.auth_time < timedelta(minutes=1)

    def test_case_I08_believes_no_forwarded_address(self, acme):
        browser, user = acme.browser(), acme.user()
        for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP"):
            browser.http.headers[header] = "for=203.0.113.9" if header == "Forwarded" else "203.0.113.9"

        browser.sign_in(user)

        with acme.active():
            assert Session.objects.get().ip == "127.0.0.1"


class TestCookie:
    def test_is_random_and_stored_as_a_hash_alone(self, acme):
        user = acme.user()
        browsers = [acme.browser() for _ in range(3)]
        for browser in browsers:
            browser.sign_in(user)

        values = {secret(browser) for browser in browsers}

        assert len(values) == 3
        assert all(len(value) == 43 for value in values)
        with acme.active():
            stored = set(Session.objects.values_list("token_hash", flat=True))
        assert stored == {hashlib.sha256(value.encode()).hexdigest() for value in values}

    def test_the_stored_hash_is_no_cookie(self, acme):
        signed_in(acme)
        with acme.active():
            stored = Session.objects.get()

        assert not is_signed_in(with_secret(acme, stored.token_hash))
        assert not is_signed_in(with_secret(acme, str(stored.pk)))

    @pytest.mark.parametrize(
        "value", ["", "x", "a" * 43, "a" * 5000, '""', "%00", "\xe4\xf6", "'; DROP TABLE", "a,b"]
    )
    def test_of_any_other_value_is_nobody(self, acme, value):
        signed_in(acme)

        answer = acme.get("/account", headers={"Cookie": f"{name(acme)}={value}".encode("latin-1")})

        assert not is_signed_in(answer)

    def test_case_G07_is_worth_nothing_in_another_tenant(self, acme, rival):
        browser = signed_in(acme)

        assert is_signed_in(with_secret(acme, secret(browser)))
        assert not is_signed_in(with_secret(rival, secret(browser)))
        assert not is_signed_in(with_secret(cast.default_world(), secret(browser)))

    def test_each_tenant_has_one_of_its_own(self, acme, rival):
        ours, theirs = acme.user(), rival.user()
        browser = acme.browser()

        browser.sign_in(ours)
        browser.post(
            f"{rival.address}/api/interaction/sign-in",
            json={"identifier": theirs.username, "password": PASSWORD},
        )

        assert ours.username in browser.get(f"{acme.address}/account").text
        assert theirs.username in browser.get(f"{rival.address}/account").text
        sign_out(browser)
        assert is_signed_in(browser.get(f"{rival.address}/account"))

    def test_case_J01_is_never_one_that_was_there_before(self, acme):
        planted = "a" * 43
        browser, user = acme.browser(), acme.user()
        browser.http.cookies.set(name(acme), planted, domain="127.0.0.1", path="/")

        answer = browser.sign_in(user)

        assert answer.cookies[name(acme)] != planted
        assert not is_signed_in(with_secret(acme, planted))


class TestSigningInAgain:
    def test_case_J01_changes_the_secret_and_keeps_the_session(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        first = client.tokens_for(user, browser)
        old = secret(browser)

        second = client.tokens_for(user, browser, prompt="login")

        assert claims(first)["sid"] == claims(second)["sid"]
        assert claims(first)["auth_time"] <= claims(second)["auth_time"]
        assert secret(browser) != old
        assert not is_signed_in(with_secret(acme, old))
        assert is_signed_in(browser.get("/account"))

    def test_keeps_the_access_tokens_that_hang_on_the_session(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        token = client.tokens_for(user, browser, scope="openid")["access_token"]

        browser.sign_in(user)

        assert client.userinfo(token).status_code == 200

    def test_counts_the_fourteen_days_anew(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        age(acme, expires_at=timedelta(days=13))

        browser.sign_in(user)

        with acme.active():
            assert Session.objects.get().expires_at - timezone.now() > timedelta(days=13, hours=23)

    def test_as_somebody_else_ends_the_session_so_far(self, acme):
        client, alice, bob = acme.application(), acme.user(), acme.user()
        browser = acme.browser()
        first = client.tokens_for(alice, browser, scope="openid")
        old = secret(browser)

        second = client.tokens_for(bob, browser, scope="openid", prompt="login")

        assert claims(first)["sid"] != claims(second)["sid"]
        assert claims(second)["sub"] == str(bob.pk)
        assert not is_signed_in(with_secret(acme, old))
        assert client.userinfo(first["access_token"]).status_code == 401
        assert client.userinfo(second["access_token"]).status_code == 200
        ended = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Session.End").get()
        assert (ended.user_id, ended.payload["session_id"]) == (str(alice.pk), claims(first)["sid"])

    def test_a_wrong_password_changes_nothing(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        before = secret(browser)

        browser.sign_in(acme.user(), password="wrong")

        assert secret(browser) == before
        assert user.username in browser.get("/account").text

    def test_case_J16_what_one_person_left_behind_is_never_the_next_ones(self, acme):
        client, alice, bob = acme.application(), acme.user(), acme.user()
        browser = acme.browser()
        left = client.tokens_for(alice, browser)
        sign_out(browser)
        fresh = client.tokens_for(bob, browser)

        refreshed = client.refresh(left["refresh_token"]).json()

        assert claims(refreshed)["sub"] == str(alice.pk)
        assert client.userinfo(refreshed["access_token"]).json()["sub"] == str(alice.pk)
        assert client.userinfo(fresh["access_token"]).json()["sub"] == str(bob.pk)
        assert bob.username in browser.get("/account").text
        assert alice.username not in browser.get("/account").text

    def test_case_J16_what_hangs_on_the_session_ends_with_it(self, acme):
        client, alice = acme.application(), acme.user()
        browser = acme.browser()
        left = client.tokens_for(alice, browser, scope="openid")

        sign_out(browser)
        browser.sign_in(alice)

        assert client.userinfo(left["access_token"]).status_code == 401

    def test_a_code_of_an_ended_session_buys_nothing(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        code = browser.code_for(client, user)

        sign_out(browser)

        answer = client.redeem(code)
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")

    def test_at_the_same_time_in_one_browser_breaks_nothing(self, acme):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        cookie = {"Cookie": f"{name(acme)}={secret(browser)}"}
        body = {"identifier": user.username, "password": PASSWORD}

        with ThreadPoolExecutor(6) as threads:
            answers = list(
                threads.map(
                    lambda _: acme.post("/api/interaction/sign-in", json=body, headers=cookie), range(6)
                )
            )

        assert {answer.status_code for answer in answers} == {200}
        alive = [is_signed_in(with_secret(acme, answer.cookies[name(acme)])) for answer in answers]
        assert any(alive)
        with acme.active():
            assert Session.objects.filter(ended_at=None).count() == sum(alive)


def test_case_M12_no_sign_in_that_began_before_a_suspension_outlives_it(acme):
    """A sign-in that is hashing when the account is suspended gets no session that counts."""
    user = acme.user()
    body = {"identifier": user.username, "password": PASSWORD}

    with ThreadPoolExecutor(5) as threads:
        running = [threads.submit(acme.post, "/api/interaction/sign-in", json=body) for _ in range(5)]
        with acme.active():
            users.suspend(user)
        answers = [one.result() for one in running]

    assert {answer.status_code for answer in answers} <= {200, 401, 403}
    for answer in answers:
        if answer.status_code == 200:
            assert not is_signed_in(with_secret(acme, answer.cookies[name(acme)]))
    with acme.active():
        assert not Session.objects.live().exists()


def test_the_cookie_of_proofs_outlives_every_request_that_needs_it(acme):
    """Requests that begin at any time need the newest secret, and last for an hour."""
    answer = acme.browser().sign_in(acme.user())

    [proofs] = [text for text in answer.headers.get_list("Set-Cookie") if "gatehouse-proofs" in text]
    assert "Max-Age=34560000" in proofs
