"""Changing or choosing a password at one's own account."""

import re
from datetime import timedelta

from django.conf import settings

from identity.limits.models import Counter
from interaction.experience import services as experiences
from tests.support import codes
from tests.support.account import NEW, age_sign_in, change, entries, is_signed_in, send, stored
from tests.support.cast import PASSWORD, query_of, signed_in
from tests.support.pages import title


class TestPassword:
    def test_decision_I5_case_D10_E15_ends_all_but_this_browser(self, acme):
        client, user = acme.application(), acme.user()
        here, there = acme.browser(), acme.browser()
        inside = client.tokens_for(user, here)
        outside = client.tokens_for(user, there)
        before = here.http.cookies[f"gatehouse-session.{acme.tenant.slug}"]

        answer = send(here, "password", password=PASSWORD, new_password=NEW)

        assert answer.status_code == 303
        assert "Password saved" in here.get(answer.headers["Location"]).text
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
            experiences.change({"password_policy": policy}, is_proven=True)
        browser, user = signed_in(acme)

        shown = browser.get("/account/password")
        answer = send(browser, "password", password=PASSWORD, new_password="short")

        assert answer.status_code == 400
        for rule in (
            "Use at least 12 characters",
            "Add an uppercase letter",
            "Add a number",
            "Add a symbol",
        ):
            assert f">{rule}</li>" in shown.text
            assert answer.text.count(f"<p>{rule}.</p>") == 1
        assert "<p>Add a lowercase letter.</p>" not in answer.text
        assert re.search(r'name="new_password"[^>]*aria-invalid="true"', answer.text)
        assert stored(acme, user).password == user.password
        assert entries(acme, "Password.Verify") == []

    def test_is_not_the_username(self, acme):
        browser, _ = signed_in(acme, username="Alice-1234")

        answer = send(browser, "password", password=PASSWORD, new_password="alice-1234")

        assert answer.status_code == 400
        assert "use your username, email or phone number as your password." in answer.text

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
        assert "Too many attempts. Try again in " in locked.text
        assert int(locked.headers["Retry-After"]) > 0
        assert stored(acme, user).password == user.password
        assert is_signed_in(browser)
        assert acme.browser().sign_in(user).status_code == 200
        codes.let_time_pass(acme)
        assert send(browser, "password", password=PASSWORD, new_password=NEW).status_code == 303
