"""What people change of their profile, and their username."""

import re

import pytest

from identity.users.models import User
from tests.support.account import allow, entries, is_signed_in, send, stored
from tests.support.cast import PASSWORD, signed_in
from tests.support.forms import form


class TestProfile:
    def test_changes_name_and_picture_and_says_who_did_it(self, acme):
        browser, user = signed_in(acme, name="Alice")

        answer = send(browser, "profile", name=" Alice <b> Example ", avatar="https://img.example/a.png")
        page = browser.get(answer.headers["Location"])

        assert answer.status_code == 303
        assert "Profile saved" in page.text
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
        assert "t change your username here" in shown.text
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
