"""Changing an email address or a phone number, with a code that proves it."""

import re

import pytest

from tests.support import codes
from tests.support.account import enter, entries, is_signed_in, send, stored
from tests.support.cast import PASSWORD, signed_in
from tests.support.forms import form
from tests.support.pages import title


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
        assert "saved." in browser.get(answer.headers["Location"]).text
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
        assert "This is already in use" in answer.text
        assert getattr(stored(reachable, user), kind) == ""
        assert getattr(stored(reachable, owner), kind) == taken

    def test_a_code_is_worth_nothing_to_another_person_in_the_same_browser(self, reachable, kind):
        """The thief of a session must not finish there what they began with an account of their own."""
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
        assert "We sent a code a moment ago." in answers[1].text
        assert int(answers[1].headers["Retry-After"]) > 0

    def test_asks_for_the_password_first(self, reachable, kind):
        new = address(kind)
        browser, _ = signed_in(reachable)

        answer = send(browser, kind, identifier=new, password="wrong")

        assert answer.status_code == 401
        assert form(answer).fields["identifier"] == new
        assert codes.messages_to(new) == []
        assert browser.get(f"/account/{kind}/code").status_code == 303
