"""AV39, AV40, AV41: what a user does again and again on the own account page."""

import re
from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest

from tests.support.account import age_sign_in, allow, change, entries, send, stored
from tests.support.cast import PASSWORD, Browser, World, signed_in
from tests.support.codes import new_email, new_phone
from tests.support.forms import form

Confirm = Callable[[Browser, str], int]

SERVER = {
    "LIMIT_ADDRESS_SIGN_INS": "5",
    "LIMIT_ADDRESS_REGISTRATIONS": "3",
    "LIMIT_PROFILE_CHANGES": "3",
    "LOCK_PAIR_FAILURES": "2",
}


def names_the_profile_limit(answer: httpx.Response) -> bool:
    return bool(re.search(r"You changed your profile too often\. Try again in \d+ minutes\.", answer.text))


class TestProfiles:
    def test_attack_AV39_changes_of_the_profile_do_not_fill_the_log(self, world: World) -> None:
        browser, user = signed_in(world, name="Ada")

        answers = [send(browser, "profile", name=f"{number}" * 200) for number in (1, 1, 2, 3, 4, 5)]

        assert [answer.status_code for answer in answers] == [303] * 4 + [429] * 2
        assert 0 < int(answers[-1].headers["Retry-After"]) <= 3600
        assert names_the_profile_limit(answers[-1])
        assert len(entries(world, "User.Update")) == 3
        assert stored(world, user).name == "3" * 200

    def test_attack_AV39_nor_do_changes_of_the_language(self, world: World) -> None:
        browser, _ = signed_in(world)

        answers = [send(browser, "language", language=language) for language in ("de", "fr", "de", "fr")]

        assert [answer.status_code for answer in answers] == [303] * 3 + [429]
        assert "Sie haben Ihr Profil zu oft geändert." in answers[-1].text
        assert len(entries(world, "User.Update")) == 3

    def test_attack_AV39_the_limit_is_one_of_each_user(self, world: World) -> None:
        first, _ = signed_in(world)
        second, _ = signed_in(world)
        for number in range(4):
            send(first, "profile", name=f"Name {number}")

        assert send(second, "profile", name="Grace").status_code == 303


class TestUsernames:
    @pytest.mark.parametrize("password", [PASSWORD, "wrong"])
    def test_attack_AV40_usernames_are_not_tried_without_limit(self, world: World, password: str) -> None:
        allow(world, username_change=True)
        browser, user = signed_in(world)
        taken = world.user().username

        answers = [send(browser, "username", username=taken, password=password).status_code for _ in range(5)]

        assert 429 not in answers[:3]
        assert answers[3:] == [429] * 2
        assert stored(world, user).username == user.username

    def test_attack_AV40_each_free_one_is_a_change_of_the_profile(self, world: World) -> None:
        allow(world, username_change=True)
        browser, _ = signed_in(world)
        for number in range(3):
            send(browser, "profile", name=f"Name {number}")

        answer = send(browser, "username", username="another", password=PASSWORD)

        assert answer.status_code == 429
        assert names_the_profile_limit(answer)


def by_page(browser: Browser, password: str) -> int:
    return send(browser, "data", password=password).status_code


def by_api(browser: Browser, password: str) -> int:
    return browser.post("/api/my-account/confirm", json={"password": password}).status_code


class TestConfirmations:
    """One of the five sign-ins of the address is that of the user."""

    @pytest.mark.parametrize("confirm", [by_page, by_api])
    def test_attack_AV41_right_passwords_are_counted(self, world: World, confirm: Confirm) -> None:
        browser, _ = signed_in(world)

        assert [confirm(browser, PASSWORD) for _ in range(6)] == [200] * 4 + [429] * 2
        assert len(entries(world, "Password.Verify")) == 4

    @pytest.mark.parametrize("confirm", [by_page, by_api])
    def test_attack_AV41_a_locked_confirmation_does_not_fill_the_log(
        self, world: World, confirm: Confirm
    ) -> None:
        browser, _ = signed_in(world)

        assert [confirm(browser, "wrong") for _ in range(8)][4:] == [429] * 4
        assert len(entries(world, "Password.Verify")) == 4

    def test_attack_AV41_nor_does_a_user_without_a_password(self, world: World) -> None:
        browser, user = signed_in(world)
        change(world, user, password="")
        age_sign_in(world, timedelta(minutes=10))
        fields = form(browser.get("/account/profile")).fields

        answers = [browser.post("/account/data", data=fields).status_code for _ in range(6)]

        assert answers == [403] * 4 + [429] * 2
        assert len(entries(world, "Password.Verify")) == 4

    @pytest.mark.parametrize("page", ["password", "email", "phone", "delete"])
    def test_attack_AV41_the_other_pages_count_too(self, world: World, page: str) -> None:
        allow(world, deletion=True)
        browser, user = signed_in(world)
        address = new_phone() if page == "phone" else new_email()
        typed = {"new_password": "a good password 1", "identifier": address, "typed": user.username}

        answers = [send(browser, page, password="wrong", **typed).status_code for _ in range(5)]

        assert 429 not in answers[:4]
        assert answers[4] == 429
