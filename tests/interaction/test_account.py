"""What people do to their own account, over HTTP and without scripts."""

import html
import json
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from audit.models import Entry
from identity.limits.models import Counter
from identity.organizations import services as organizations
from identity.organizations.models import Organization
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from interaction.experience import services as experience
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from tests.support import codes
from tests.support.cast import PASSWORD, Browser, RelyingParty, World, query_of
from tests.support.forms import form

PAGES = ["profile", "password", "browsers", "applications", "data"]
OPTIONAL = ["username", "email", "phone", "delete"]
NEW = "a new password, 1 of many"


def signed_in(world: World, **fields: Any) -> tuple[Browser, User]:
    user, browser = world.user(**fields), world.browser()
    assert browser.sign_in(user).status_code == 200
    return browser, user


def send(browser: Browser, page: str, **typed: Any) -> httpx.Response:
    """Open a page of the account and send its form."""
    path = f"/account/{page}"
    return form(browser.get(path)).submit(Sender(browser, path), **typed)


class Sender(Browser):
    """Sends a form without an action back to the page it is on."""

    def __init__(self, browser: Browser, path: str) -> None:
        super().__init__(browser.world, browser.http)
        self.path = path

    def post(self, address: str, **options: Any) -> httpx.Response:
        return super().post(address or self.path, **options)


def everything(page: str, user: User) -> dict[str, str]:
    """What the forms that ask for a password take besides it."""
    to = codes.new_phone() if page == "phone" else codes.new_email()
    return {"username": "another", "typed": user.username, "new_password": NEW, "identifier": to}


def title(page: httpx.Response) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page.text, re.DOTALL)
    assert found, page.text
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]).strip())


def is_signed_in(browser: Browser) -> bool:
    answer = browser.get("/account")
    assert answer.status_code in {200, 303}
    return answer.status_code == 200


def allow(world: World, **account: bool) -> None:
    codes.reachable(world)
    with world.active():
        experience.change({"account": account})


def change(world: World, user: User, **columns: Any) -> None:
    with world.active():
        User.objects.filter(pk=user.pk).update(**columns)


def age_sign_in(world: World, by: timedelta) -> None:
    with world.active():
        Session.objects.update(auth_time=timezone.now() - by)


def entries(world: World, key: str) -> list[Entry]:
    return list(Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("-created_at", "-id"))


def stored(world: World, user: User) -> User:
    with world.active():
        return User.objects.get(pk=user.pk)


class TestEveryPage:
    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_leads_strangers_to_the_sign_in_page(self, acme, rival, page):
        allow(acme, username_change=True, deletion=True)
        stranger, _ = signed_in(rival)
        stranger.world = acme

        for answer in (acme.get(f"/account/{page}"), stranger.get(f"/account/{page}")):
            assert answer.status_code == 303
            assert answer.headers["Location"] == f"/t/{acme.tenant.slug}/sign-in"

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_case_J06_is_never_kept_never_framed_and_loads_from_here_alone(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, _ = signed_in(acme)

        shown = browser.get(f"/account/{page}")

        assert shown.status_code == 200
        assert shown.headers["Cache-Control"] == "no-store"
        assert "frame-ancestors 'none'" in shown.headers["Content-Security-Policy"]
        assert len(shown.content) < 50 * 1024
        assert "style=" not in shown.text
        assert re.findall(r"<script[^>]*>(.*?)</script>", shown.text) == [""]
        assert shown.text.count("<h1>") == 1

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_case_J04_takes_no_form_without_its_token(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        sent = {"name": "Mallory", "username": "mallory", "typed": user.username, "end": "others"}

        answer = browser.post(
            f"/account/{page}", data=sent | {"password": PASSWORD, "new_password": NEW, "revoke": "x"}
        )

        assert answer.status_code == 403
        assert stored(acme, user).name == ""
        assert stored(acme, user).username == user.username

    @pytest.mark.parametrize("page", PAGES + OPTIONAL)
    def test_refuses_other_methods(self, acme, page):
        browser, _ = signed_in(acme)

        answer = browser.http.delete(f"{acme.address}/account/{page}")

        assert answer.status_code in {403, 405}

    @pytest.mark.parametrize("page", ["password", "data", "username", "email", "phone", "delete"])
    def test_asks_for_the_password_and_does_nothing_without_the_right_one(self, acme, page):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        typed = everything(page, user)

        for password, status in ((None, 400), ("", 400), ("x" * 257, 400), ("a\0b", 400), ("wrong", 401)):
            answer = send(browser, page, password=password, **typed)

            assert answer.status_code == status
            assert "<title>Error: " in answer.text
            assert re.search(r'id="id_password"[^>]*aria-invalid="true"', answer.text)
            assert 'role="alert"' in answer.text
            assert "wrong" not in answer.text
            assert NEW not in answer.text
        assert stored(acme, user).password == user.password
        assert stored(acme, user).username == user.username
        assert is_signed_in(browser)
        failed = entries(acme, "Password.Verify")[0]
        assert (failed.user_id, failed.payload["result"]) == (str(user.pk), "failed")
        assert failed.payload["error"] == "invalid_credentials"

    @pytest.mark.parametrize("page", ["password", "data", "username", "email", "phone", "delete"])
    @pytest.mark.parametrize(("minutes", "enough"), [(4.9, True), (5.1, False)])
    def test_asks_people_without_a_password_for_a_recent_sign_in(self, acme, page, minutes, enough):
        allow(acme, username_change=True, deletion=True)
        browser, user = signed_in(acme)
        change(acme, user, password="")
        age_sign_in(acme, timedelta(minutes=minutes))
        typed = everything(page, user)

        shown = browser.get(f"/account/{page}")
        answer = send(browser, page, **typed)

        assert ("Sign in again" in shown.text) is not enough
        assert 'name="password"' not in shown.text
        assert (answer.status_code in {200, 303}) is enough
        assert answer.status_code in {200, 303, 403}
        refused = entries(acme, "Password.Verify")[0].payload.get("error") == "sign_in_again"
        assert refused is not enough
        with acme.active():
            untouched = User.objects.filter(pk=user.pk, username=user.username, password="").exists()
        assert untouched is (not enough or page in {"data", "email", "phone"})


class TestOverview:
    def test_shows_who_it_is_and_leads_to_every_page(self, acme):
        browser, _ = signed_in(acme, username="alice", name="Alice Example", email="alice@example.com")

        page = browser.get("/account")

        assert title(page) == "Your account"
        for text in ("Alice Example", "alice", "alice@example.com", "1 browser", "None"):
            assert text in page.text
        led = set(re.findall(r'href="[^"]*/account/([a-z]+)"', page.text))
        assert led == set(PAGES)

    def test_leads_to_what_the_tenant_allows(self, acme):
        allow(acme, username_change=True, deletion=True)
        browser, _ = signed_in(acme)

        led = set(re.findall(r'href="[^"]*/account/([a-z]+)"', browser.get("/account").text))

        assert led == set(PAGES + OPTIONAL)


class TestProfile:
    def test_changes_name_and_picture_and_says_who_did_it(self, acme):
        browser, user = signed_in(acme, name="Alice")

        answer = send(browser, "profile", name=" Alice <b> Example ", avatar="https://img.example/a.png")
        page = browser.get(answer.headers["Location"])

        assert answer.status_code == 303
        assert "Your profile is changed" in page.text
        assert "Alice &lt;b&gt; Example" in page.text
        now = stored(acme, user)
        assert (now.name, now.avatar) == ("Alice <b> Example", "https://img.example/a.png")
        entry = entries(acme, "User.Update")[0]
        assert entry.user_id == str(user.pk)
        assert entry.payload == {"id": str(user.pk), "fields": ["avatar", "name"]}
        with acme.active():
            assert User.objects.filter(search_text__contains="alice <b> example").exists()

    def test_clears_what_is_emptied(self, acme):
        browser, user = signed_in(acme, name="Alice", avatar="https://img.example/a.png")

        send(browser, "profile", name="", avatar="")

        assert (stored(acme, user).name, stored(acme, user).avatar) == ("", None)

    def test_writes_nothing_when_nothing_changed(self, acme):
        browser, user = signed_in(acme, name="Alice")

        assert send(browser, "profile").status_code == 303

        assert stored(acme, user).version == user.version
        assert entries(acme, "User.Update") == []

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("name", "x" * 257),
            ("name", "a\0b"),
            ("name", "a\x07b"),
            ("avatar", "javascript:alert(1)"),
            ("avatar", "http://img.example/a.png"),
            ("avatar", 'https://img.example/"onerror=x'),
            ("avatar", "https://img.example/" + "x" * 2048),
        ],
    )
    def test_case_J08_refuses_what_would_harm_and_keeps_what_was_typed(self, acme, field, value):
        browser, user = signed_in(acme, name="Alice")
        typed = {"name": "Bob", "avatar": "https://img.example/a.png"} | {field: value}

        answer = send(browser, "profile", **typed)

        assert answer.status_code == 400
        assert re.search(rf'name="{field}"[^>]*aria-invalid="true"', answer.text)
        other = "avatar" if field == "name" else "name"
        assert form(answer).fields[other] == typed[other]
        assert stored(acme, user).name == "Alice"

    def test_case_H02_changes_nothing_else(self, acme):
        browser, user = signed_in(acme)
        before = stored(acme, user)

        send(
            browser,
            "profile",
            name="Alice",
            username="root",
            email="x@example.com",
            email_verified="true",
            is_suspended="true",
            password="x",
            custom_data="{}",
            id="1",
        )

        now = stored(acme, user)
        for column in ("pk", "username", "email", "email_verified", "is_suspended", "password", "tenant_id"):
            assert getattr(now, column) == getattr(before, column)


class TestUsername:
    def test_is_fixed_unless_the_tenant_says_otherwise(self, acme):
        browser, user = signed_in(acme)

        shown = browser.get("/account/username")
        token = form(browser.get("/account/profile")).fields["csrfmiddlewaretoken"]
        sent = {"csrfmiddlewaretoken": token, "username": "another", "password": PASSWORD}
        answer = browser.post("/account/username", data=sent)

        assert (shown.status_code, answer.status_code) == (403, 403)
        assert "You cannot change your username here" in shown.text
        assert stored(acme, user).username == user.username

    def test_is_what_one_signs_in_with_from_now_on(self, acme):
        allow(acme, username_change=True)
        browser, user = signed_in(acme)
        old = user.username

        answer = send(browser, "username", username="Alice.New", password=PASSWORD)

        assert answer.status_code == 303
        assert is_signed_in(browser)
        user.username = "alice.new"
        assert acme.browser().sign_in(user).status_code == 200
        user.username = old
        assert acme.browser().sign_in(user).status_code == 401
        assert entries(acme, "User.Update")[0].payload["fields"] == ["username"]

    @pytest.mark.parametrize("username", ["", "a b", "a@b", "+4917012345", "x" * 129, "TAKEN"])
    def test_keeps_the_rules_of_all_usernames(self, acme, rival, username):
        allow(acme, username_change=True)
        acme.user(username="taken")
        browser, user = signed_in(acme)

        answer = send(browser, "username", username=username, password=PASSWORD)

        assert answer.status_code == 400
        assert re.search(r'name="username"[^>]*aria-invalid="true"', answer.text)
        assert form(answer).fields["username"] == username
        assert PASSWORD not in answer.text
        assert stored(acme, user).username == user.username


class TestPassword:
    def test_decision_I5_case_D10_E15_ends_all_but_this_browser(self, acme):
        client, user = acme.application(), acme.user()
        here, there = acme.browser(), acme.browser()
        inside = client.tokens_for(user, here)
        outside = client.tokens_for(user, there)
        before = here.http.cookies[f"gatehouse-session.{acme.tenant.slug}"]

        answer = send(here, "password", password=PASSWORD, new_password=NEW)

        assert answer.status_code == 303
        assert "Your new password is set" in here.get(answer.headers["Location"]).text
        assert is_signed_in(here)
        assert not is_signed_in(there)
        for tokens in (inside, outside):
            assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
            assert client.userinfo(tokens["access_token"]).status_code == 401
        assert acme.browser().sign_in(user).status_code == 401
        assert acme.browser().sign_in(user, NEW).status_code == 200
        assert here.http.cookies[f"gatehouse-session.{acme.tenant.slug}"] != before
        entry = entries(acme, "User.Update")[0]
        assert (entry.user_id, entry.payload["fields"]) == (str(user.pk), ["password"])

    def test_the_secret_of_the_cookie_is_a_new_one(self, acme):
        browser, _ = signed_in(acme)
        name = f"gatehouse-session.{acme.tenant.slug}"
        stolen = browser.http.cookies[name]

        send(browser, "password", password=PASSWORD, new_password=NEW)

        assert acme.get("/account", headers={"Cookie": f"{name}={stolen}"}).status_code == 303

    def test_the_session_of_applications_goes_on(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser, scope="openid")

        send(browser, "password", password=PASSWORD, new_password=NEW)

        assert client.userinfo(tokens["access_token"]).status_code == 200
        assert "code" in query_of(browser.authorize(client, prompt="none").headers["Location"])

    def test_decision_X4_keeps_the_policy_which_is_shown_before(self, acme):
        policy = {"min_length": 12, "require_uppercase": True, "require_special_chars": True}
        with acme.active():
            experience.change({"password_policy": policy})
        browser, user = signed_in(acme)

        shown = browser.get("/account/password")
        answer = send(browser, "password", password=PASSWORD, new_password="short")

        assert answer.status_code == 400
        for rule in (
            "at least 12 characters",
            "an upper-case letter",
            "a digit",
            "a character that is neither",
        ):
            assert rule in shown.text
            assert f"Your password needs {rule}" in answer.text
        assert "Your password needs a lower-case letter" not in answer.text
        assert re.search(r'name="new_password"[^>]*aria-invalid="true"', answer.text)
        assert stored(acme, user).password == user.password
        assert entries(acme, "Password.Verify") == []

    def test_is_not_the_username(self, acme):
        browser, _ = signed_in(acme, username="Alice-1234")

        answer = send(browser, "password", password=PASSWORD, new_password="alice-1234")

        assert answer.status_code == 400
        assert "something else than your username" in answer.text

    def test_spaces_around_it_are_part_of_it(self, acme):
        browser, user = signed_in(acme)

        send(browser, "password", password=PASSWORD, new_password=f"  {NEW} ")

        assert acme.browser().sign_in(user, f"  {NEW} ").status_code == 200
        assert acme.browser().sign_in(user, NEW).status_code == 401

    def test_people_without_one_set_one(self, acme):
        browser, user = signed_in(acme)
        change(acme, user, password="")

        page = browser.get("/account/password")
        answer = send(browser, "password", new_password=NEW)

        assert title(page) == "Set a password"
        assert answer.status_code == 303
        assert acme.browser().sign_in(user, NEW).status_code == 200
        confirmed = entries(acme, "Password.Verify")[0].payload
        assert (confirmed["method"], confirmed["result"]) == ("recent_sign_in", "success")

    def test_signing_in_again_is_recent(self, acme):
        browser, user = signed_in(acme)
        age_sign_in(acme, timedelta(hours=1))
        assert browser.sign_in(user).status_code == 200
        change(acme, user, password="")

        assert send(browser, "password", new_password=NEW).status_code == 303

    def test_decision_X6_guessing_locks(self, acme):
        browser, user = signed_in(acme)
        assert send(browser, "password", password="wrong", new_password=NEW).status_code == 401
        with acme.active():
            guesses = Counter.objects.filter(kind="pair", count=1)  # a sign-in that succeeded left none
            assert guesses.update(count=settings.LOCK_PAIR_FAILURES - 1) == 1
        assert send(browser, "password", password="wrong", new_password=NEW).status_code == 401

        locked = send(browser, "password", password=PASSWORD, new_password=NEW)
        elsewhere = send(browser, "data", password=PASSWORD)

        assert (locked.status_code, elsewhere.status_code) == (401, 401)
        assert "Too many wrong passwords" in locked.text
        assert int(locked.headers["Retry-After"]) > 0
        assert stored(acme, user).password == user.password
        assert is_signed_in(browser)
        assert acme.browser().sign_in(user).status_code == 200
        codes.let_time_pass(acme)
        assert send(browser, "password", password=PASSWORD, new_password=NEW).status_code == 303


def address(kind: str) -> str:
    return codes.new_email() if kind == "email" else codes.new_phone()


@pytest.mark.parametrize("kind", ["email", "phone"])
class TestContact:
    def test_counts_once_the_code_came_back(self, reachable, kind):
        old, new, mail = address(kind), address(kind), codes.new_email()
        browser, user = signed_in(reachable, **({"email": mail} | {kind: old}))
        told = old if kind == "email" else mail

        asked = send(browser, kind, identifier=f" {new} ", password=PASSWORD)
        page = browser.get(asked.headers["Location"])
        before = stored(reachable, user)
        answer = enter(browser, kind, codes.message_to(new)["code"])

        assert asked.status_code == answer.status_code == 303
        assert title(page) == "Enter the code"
        assert new in page.text
        assert (getattr(before, kind), getattr(before, f"{kind}_verified")) == (old, False)
        after = stored(reachable, user)
        assert (getattr(after, kind), getattr(after, f"{kind}_verified")) == (new, True)
        assert "is changed" in browser.get(answer.headers["Location"]).text
        entry = entries(reachable, "User.Update")[0]
        assert (entry.user_id, entry.payload["fields"]) == (str(user.pk), [kind])
        notice = codes.message_to(told)
        assert "was changed" in notice["subject"]
        assert notice["code"] == ""
        assert new not in notice["body"]
        assert is_signed_in(browser)

    def test_a_new_one_is_what_one_signs_in_with(self, reachable, kind):
        new = address(kind)
        browser, user = signed_in(reachable)
        send(browser, kind, identifier=new, password=PASSWORD)

        enter(browser, kind, codes.message_to(new)["code"])

        user.username = new
        assert reachable.browser().sign_in(user).status_code == 200

    def test_the_old_one_is_confirmed_in_the_same_way_and_nobody_is_told(self, reachable, kind):
        old = address(kind)
        browser, user = signed_in(reachable, **{kind: old})
        assert "Not confirmed" in browser.get("/account").text

        send(browser, kind, password=PASSWORD)
        enter(browser, kind, codes.message_to(old)["code"])

        assert getattr(stored(reachable, user), f"{kind}_verified") is True
        assert "Not confirmed" not in browser.get("/account").text
        assert len(codes.messages_to(old)) == 1

    def test_a_wrong_code_changes_nothing_and_the_fifth_is_the_last(self, reachable, kind):
        new = address(kind)
        browser, user = signed_in(reachable)
        send(browser, kind, identifier=new, password=PASSWORD)
        code = codes.message_to(new)["code"]

        for _ in range(5):
            answer = enter(browser, kind, codes.other_than(code))
            assert answer.status_code == 400
            assert re.search(r'name="code"[^>]*aria-invalid="true"', answer.text)
        late = browser.get(f"/account/{kind}/code")

        assert late.headers["Location"] == f"/t/{reachable.tenant.slug}/account/{kind}?done=expired"
        assert "The code has expired" in browser.get(late.headers["Location"]).text
        assert getattr(stored(reachable, user), kind) == ""

    def test_nobody_learns_who_has_it_before_it_is_proven(self, reachable, rival, kind):
        taken = address(kind)
        owner = reachable.user(**{kind: taken})
        browser, user = signed_in(reachable)

        asked = send(browser, kind, identifier=taken, password=PASSWORD)
        answer = enter(browser, kind, codes.message_to(taken)["code"])

        assert asked.status_code == 303
        assert answer.status_code == 400
        assert "Somebody else has this already" in answer.text
        assert getattr(stored(reachable, user), kind) == ""
        assert getattr(stored(reachable, owner), kind) == taken

    def test_a_code_is_worth_nothing_to_another_person_in_the_same_browser(self, reachable, kind):
        """Whoever stole a session must not finish there what they began with an account of their own."""
        new = address(kind)
        browser, _ = signed_in(reachable)
        victim, user = signed_in(reachable)
        send(browser, kind, identifier=new, password=PASSWORD)
        code = codes.message_to(new)["code"]
        page = form(browser.get(f"/account/{kind}/code"))
        name = f"gatehouse-session.{reachable.tenant.slug}"
        for cookie in list(browser.http.cookies.jar):
            if cookie.name == name:
                browser.http.cookies.jar.clear(cookie.domain, cookie.path, name)
        browser.http.cookies.set(name, victim.http.cookies[name])

        answer = browser.post(f"/account/{kind}/code", data=page.fields | {"code": code})

        assert answer.headers["Location"].endswith(f"/account/{kind}?done=expired")
        assert getattr(stored(reachable, user), kind) == ""

    def test_the_code_of_another_purpose_is_none(self, reachable, kind):
        new = address(kind)
        browser, user = signed_in(reachable)
        answer = codes.send(browser, new, "change")

        assert answer.status_code == 400
        assert browser.get(f"/account/{kind}/code").status_code == 303
        assert getattr(stored(reachable, user), kind) == ""

    @pytest.mark.parametrize("typed", ["", "x", "a\0b", "x" * 255, None])
    def test_refuses_what_is_none_and_keeps_what_was_typed(self, reachable, kind, typed):
        browser, _ = signed_in(reachable)

        answer = send(browser, kind, identifier=typed, password=PASSWORD)

        assert answer.status_code == 400
        assert re.search(r'name="identifier"[^>]*aria-invalid="true"', answer.text)
        assert PASSWORD not in answer.text

    def test_decision_X5_a_minute_lies_between_two(self, reachable, kind):
        new = address(kind)
        browser, _ = signed_in(reachable)

        answers = [send(browser, kind, identifier=new, password=PASSWORD) for _ in range(2)]

        assert [answer.status_code for answer in answers] == [303, 400]
        assert "wait a minute" in answers[1].text.lower()
        assert int(answers[1].headers["Retry-After"]) > 0

    def test_asks_for_the_password_first(self, reachable, kind):
        new = address(kind)
        browser, _ = signed_in(reachable)

        answer = send(browser, kind, identifier=new, password="wrong")

        assert answer.status_code == 401
        assert form(answer).fields["identifier"] == new
        assert codes.messages_to(new) == []
        assert browser.get(f"/account/{kind}/code").status_code == 303


def enter(browser: Browser, kind: str, code: str) -> httpx.Response:
    return send(browser, f"{kind}/code", code=code)


class TestBrowsers:
    def test_lists_them_in_plain_words_and_marks_this_one(self, acme):
        browser, user = signed_in(acme)
        agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        other = acme.browser()
        other.http.headers["User-Agent"] = agent
        other.sign_in(user)
        bystander, _ = signed_in(acme)

        page = browser.get("/account/browsers").text

        assert page.count("This browser") == 1
        assert "Firefox on Linux" in page
        assert "127.0.0.1" in page
        assert page.count('name="end"') == 2  # that one, and all others
        assert is_signed_in(bystander)

    def test_ends_one(self, acme):
        here, user = signed_in(acme)
        there, elsewhere = acme.browser(), acme.browser()
        for browser in (there, elsewhere):
            browser.sign_in(user)
        with acme.active():
            ended = str(Session.objects.order_by("created_at", "pk")[1].pk)

        answer = send(here, "browsers", end=ended)

        assert "It is signed out" in here.get(answer.headers["Location"]).text
        assert [is_signed_in(b) for b in (here, there, elsewhere)] == [True, False, True]
        entry = entries(acme, "Session.End")[0]
        assert (entry.user_id, entry.payload["session_id"]) == (str(user.pk), ended)

    def test_ends_all_others_and_what_hangs_on_them(self, acme):
        client, user = acme.application(), acme.user()
        here, there = acme.browser(), acme.browser()
        here.sign_in(user)
        token = client.tokens_for(user, there, scope="openid")["access_token"]
        bystander, _ = signed_in(acme)

        send(here, "browsers", end="others")

        assert [is_signed_in(b) for b in (here, there, bystander)] == [True, False, True]
        assert client.userinfo(token).status_code == 401
        entry = entries(acme, "Session.End")[0]
        assert (entry.user_id, entry.payload["count"]) == (str(user.pk), 1)
        assert send(here, "browsers", end="others").status_code == 303
        assert len(entries(acme, "Session.End")) == 1

    def test_knows_nobody_elses(self, acme, rival):
        browser, user = signed_in(acme)
        acme.browser().sign_in(user)
        others = [signed_in(acme)[0], signed_in(rival)[0]]
        ids = ["", "x", "others ", "00000000-0000-7000-8000-000000000000"]
        for world in (acme, rival):
            with world.active():
                ids += [str(s.pk) for s in Session.objects.exclude(user_id=user.pk)]
        assert len(ids) == 6

        answers = [send(browser, "browsers", end=pk) for pk in ids]

        assert {answer.status_code for answer in answers} == {404}
        assert all("That browser is signed out already" in answer.text for answer in answers)
        assert all(is_signed_in(other) for other in others)

    def test_a_great_many_fit_on_the_page(self, acme):
        browser, user = signed_in(acme)
        with acme.active():
            one = Session.objects.get()
            Session.objects.bulk_create(
                Session(
                    user=user,
                    token_hash=str(number),
                    epoch=one.epoch,
                    auth_time=one.auth_time,
                    last_used_at=one.last_used_at,
                    expires_at=one.expires_at,
                    ip="2001:db8::1",
                    user_agent="x" * 512,
                )
                for number in range(60)
            )

        page = browser.get("/account/browsers")

        assert len(page.content) < 50 * 1024
        assert "and 30 more" in page.text
        assert "61 browsers" in browser.get("/account").text
        send(browser, "browsers", end="others")
        with acme.active():
            assert Session.objects.live().get().pk == one.pk


class TestApplications:
    def consent(self, world: World, client: RelyingParty, user: User, browser: Browser) -> dict[str, Any]:
        """Sign in, agree, and return the tokens."""
        browser.sign_in(user)
        asked = browser.get(browser.authorize(client).headers["Location"])
        answer = form(asked).submit(browser, choice="allow")
        code = query_of(browser.get(answer.headers["Location"]).headers["Location"])["code"]
        tokens: dict[str, Any] = client.redeem(code).json()
        return tokens

    def test_says_what_each_may_do_and_since_when(self, acme):
        browser, user = acme.browser(), acme.user()
        printer = acme.application(name="Photo <Prints>", is_third_party=True)
        payroll = acme.application(name="Payroll")
        acme.application(name="Never used")
        self.consent(acme, printer, user, browser)
        payroll.tokens_for(user, browser)

        page = browser.get("/account/applications").text

        assert "Photo &lt;Prints&gt;" in page
        assert page.count("Third-party app") == 1
        assert page.index("Payroll") < page.index("Photo")
        assert "Never used" not in page
        for words in ("See your profile", "See your email address", "Stay connected"):
            assert page.count(words) == 2
        assert "2 applications" in browser.get("/account").text

    def test_removing_ends_consent_tokens_and_codes_at_once(self, acme):
        browser, user = acme.browser(), acme.user()
        client = acme.application(is_third_party=True)
        tokens = self.consent(acme, client, user, browser)
        waiting = query_of(browser.authorize(client).headers["Location"])["code"]

        answer = send(browser, "applications", revoke=str(client.application.pk))

        assert "It is removed" in browser.get(answer.headers["Location"]).text
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert client.redeem(waiting).json()["error"] == "invalid_grant"
        with acme.active():
            assert not Consent.objects.exists()
            assert not RefreshFamily.objects.live().exists()
            assert not AuthorizationCode.objects.filter(consumed_at=None).exists()
        assert is_signed_in(browser)
        assert "/consent" in browser.authorize(client).headers["Location"]
        entry = entries(acme, "Consent.Revoke")[0]
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        assert entries(acme, "Token.Revoke")[0].payload["reason"] == "consent_revoked"
        assert "No application is connected" in browser.get("/account/applications").text

    def test_leaves_other_applications_and_other_people_alone(self, acme):
        browser, user = acme.browser(), acme.user()
        client, other = acme.application(), acme.application()
        client.tokens_for(user, browser)
        kept = other.tokens_for(user, browser)
        neighbours = client.tokens_for(acme.user())

        send(browser, "applications", revoke=str(client.application.pk))

        assert other.userinfo(kept["access_token"]).status_code == 200
        assert client.userinfo(neighbours["access_token"]).status_code == 200

    def test_knows_no_other_ids(self, acme, rival):
        browser, user = acme.browser(), acme.user()
        client = acme.application()
        client.tokens_for(user, browser)
        foreign, unused = rival.application(), acme.application()
        foreign.tokens_for(rival.user())
        ids = ["", "x", str(foreign.application.pk), str(unused.application.pk), client.client_id]

        answers = [send(browser, "applications", revoke=pk) for pk in ids]

        assert {answer.status_code for answer in answers} == {404}
        with acme.active():
            assert RefreshFamily.objects.live().count() == 1
        with rival.active():
            assert RefreshFamily.objects.live().count() == 1


class TestData:
    def test_hands_out_all_that_is_kept_and_no_secret(self, acme):
        browser, client = acme.browser(), acme.application(name="Payroll")
        user = acme.user(username="alice", name="Älice", email="a@example.com", custom_data={"shoe": 42})
        client.tokens_for(user, browser)
        with acme.active():
            organization = Organization.objects.create(name="Sales")
            organizations.add_members(organization.pk, [str(user.pk)])
        neighbour, _ = signed_in(acme, username="neighbour")

        answer = send(browser, "data", password=PASSWORD)
        data = answer.json()

        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["Content-Disposition"] == 'attachment; filename="account.json"'
        assert answer.headers["Cache-Control"] == "no-store"
        assert set(data) == {
            *("profile", "sessions", "linked_accounts", "applications", "organizations", "roles", "activity"),
        }
        assert data["profile"]["username"] == "alice"
        assert data["profile"]["name"] == "Älice"
        assert data["profile"]["custom_data"] == {"shoe": 42}
        assert data["profile"]["has_password"] is True
        assert [session["ip"] for session in data["sessions"]] == ["127.0.0.1"]
        assert [application["name"] for application in data["applications"]] == ["Payroll"]
        assert [row["name"] for row in data["organizations"]] == ["Sales"]
        assert {"SignIn.Password", "Token.Exchange", "User.Export"} <= {e["key"] for e in data["activity"]}
        with acme.active():
            row, session = User.objects.get(pk=user.pk), Session.objects.get(user=user)
        for secret in (row.password, session.token_hash, "argon2", "neighbour"):
            assert secret not in json.dumps(data)
        assert entries(acme, "User.Export")[0].user_id == str(user.pk)
        assert is_signed_in(neighbour)


class TestDeletion:
    def test_is_off_unless_the_tenant_allows_it(self, acme):
        browser, user = signed_in(acme)
        token = form(browser.get("/account/profile")).fields["csrfmiddlewaretoken"]
        sent = {"csrfmiddlewaretoken": token, "typed": user.username, "password": PASSWORD}

        answers = [browser.get("/account/delete"), browser.post("/account/delete", data=sent)]

        assert [answer.status_code for answer in answers] == [403, 403]
        assert all("You cannot delete your account here" in answer.text for answer in answers)
        assert stored(acme, user).pk == user.pk

    def test_case_N09_takes_everything_but_the_audit_log(self, acme):
        allow(acme, deletion=True)
        client, user, browser = acme.application(), acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        there = acme.browser()
        there.sign_in(user)
        neighbour, _ = signed_in(acme)

        answer = send(browser, "delete", typed=f" {user.username.upper()} ", password=PASSWORD)

        assert answer.status_code == 200
        assert title(answer) == "Your account is deleted"
        assert [is_signed_in(b) for b in (browser, there, neighbour)] == [False, False, True]
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert acme.browser().sign_in(user).status_code == 401
        with acme.active():
            assert not User.objects.filter(pk=user.pk).exists()
            assert not RefreshFamily.objects.filter(user=user.pk).exists()
        entry = entries(acme, "User.Delete")[0]
        assert (entry.user_id, entry.payload["id"]) == (str(user.pk), str(user.pk))

    @pytest.mark.parametrize("typed", ["", "x", "delete", None])
    def test_asks_to_type_the_username(self, acme, typed):
        allow(acme, deletion=True)
        browser, user = signed_in(acme)

        answer = send(browser, "delete", typed=typed, password=PASSWORD)

        assert answer.status_code == 400
        assert re.search(r'name="typed"[^>]*aria-invalid="true"', answer.text)
        assert form(answer).fields["typed"] == (typed or "")
        assert stored(acme, user).pk == user.pk
        assert is_signed_in(browser)

    def test_of_somebody_who_is_gone_already_leads_to_the_sign_in_page(self, acme):
        allow(acme, deletion=True)
        browser, user = signed_in(acme)
        page = form(browser.get("/account/delete"))
        with acme.active():
            users.remove(stored(acme, user))

        answer = browser.post(
            "/account/delete", data=page.fields | {"typed": user.username, "password": PASSWORD}
        )

        assert answer.status_code == 303
