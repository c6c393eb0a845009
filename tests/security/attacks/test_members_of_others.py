"""An application with the members API of one organization, which wants the people of others."""

from typing import Any

import httpx
import pytest

from identity.users.models import User
from tests.support import codes, management
from tests.support.cast import World
from tests.support.codes import new_phone
from tests.support.management import Caller, result_of

LIMIT = 60


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


class Enroller:
    """An organization's application with the members API."""

    def __init__(self, world: World, name: str) -> None:
        self.organization: str = management.superuser(world).created("/organizations", name=name)["id"]
        self.caller: Caller = management.member_manager(world, self.organization)
        self.path = f"/m2m/organizations/{self.organization}/members"

    def post(self, **fields: str) -> httpx.Response:
        return self.caller.post(self.path, **fields)

    def members(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = result_of(self.caller.get(self.path, page_size=100))["result"]
        return found


@pytest.fixture
def mine(acme: World) -> Enroller:
    return Enroller(acme, "Mine")


class TestWhoExists:
    def test_attack_an_email_that_is_taken_makes_a_question_of_a_phone_without_a_trace(self, acme, mine):
        acme.user(email="taken@x.org")

        answers = [mine.post(phone=new_phone(), email="taken@x.org") for _ in range(LIMIT + 1)]

        assert [answer.status_code for answer in answers] == [400] * LIMIT + [429]
        assert int(answers[-1].headers["Retry-After"]) > 0

    def test_attack_beyond_the_limit_i_ask_on(self, acme, mine):
        acme.user(email="taken@x.org")
        member, known = new_phone(), new_phone()
        acme.user(phone=known)
        result_of(mine.post(phone=member))
        for _ in range(LIMIT):
            mine.post(phone=new_phone(), email="taken@x.org")

        for fields in ({}, {"email": "taken@x.org"}, {"email": "free@x.org"}):
            assert mine.post(phone=known, **fields).status_code == 429
            assert mine.post(phone=new_phone(), **fields).status_code == 429
        assert [one["primary_phone"] for one in mine.members()] == [member]
        assert result_of(mine.post(phone=member))["primary_phone"] == member
        assert mine.post(phone="no phone").status_code == 400

    def test_attack_i_take_phones_from_people_one_by_one(self, acme, mine):
        phones = [new_phone() for _ in range(LIMIT + 1)]
        with acme.active():
            holders = [acme.user().pk for _ in phones]
            for pk, phone in zip(holders, phones, strict=True):
                key = phone.removeprefix("+")
                User.objects.filter(pk=pk).update(phone=phone, phone_key=key, phone_proven=False)

        answers = [mine.post(phone=phone).status_code for phone in phones]

        assert answers == [200] * LIMIT + [429]
        with acme.active():
            assert User.objects.get(pk=holders[-1]).phone == phones[-1]

    def test_new_people_are_not_counted(self, mine):
        answers = [mine.post(phone=new_phone()).status_code for _ in range(LIMIT + 5)]

        assert answers == [200] * (LIMIT + 5)
