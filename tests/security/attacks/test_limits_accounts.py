"""AV39, AV40: what a user does again and again on the own account page."""

import pytest

from tests.support.account import allow, entries, send, stored
from tests.support.cast import PASSWORD, World, signed_in

SERVER = {
    "LIMIT_ADDRESS_SIGN_INS": "5",
    "LIMIT_ADDRESS_REGISTRATIONS": "3",
    "LIMIT_PROFILE_CHANGES": "3",
    "LOCK_PAIR_FAILURES": "2",
}


class TestProfiles:
    def test_attack_AV39_changes_of_the_profile_do_not_fill_the_log(self, world: World) -> None:
        browser, user = signed_in(world, name="Ada")

        answers = [send(browser, "profile", name=f"{number}" * 200) for number in (1, 1, 2, 3, 4, 5)]

        assert [answer.status_code for answer in answers] == [303] * 4 + [429] * 2
        assert 0 < int(answers[-1].headers["Retry-After"]) <= 3600
        assert len(entries(world, "User.Update")) == 3
        assert stored(world, user).name == "3" * 200

    def test_attack_AV39_nor_do_changes_of_the_language(self, world: World) -> None:
        browser, _ = signed_in(world)

        answers = [send(browser, "language", language=language) for language in ("de", "fr", "de", "fr")]

        assert [answer.status_code for answer in answers] == [303] * 3 + [429]
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

        answers = [
            send(browser, "username", username=taken, password=password).status_code for _ in range(5)
        ]

        assert 429 not in answers[:3]
        assert answers[3:] == [429] * 2
        assert stored(world, user).username == user.username

    def test_attack_AV40_each_free_one_is_a_change_of_the_profile(self, world: World) -> None:
        allow(world, username_change=True)
        browser, _ = signed_in(world)
        for number in range(3):
            send(browser, "profile", name=f"Name {number}")

        assert send(browser, "username", username="another", password=PASSWORD).status_code == 429
