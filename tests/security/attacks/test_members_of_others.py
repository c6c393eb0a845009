"""An application with the members API of one organization, which wants the people of others."""

from typing import Any, NoReturn
from uuid import UUID

import pytest
from django.db import DataError

from identity.core import records
from identity.organizations import enrolment
from identity.organizations.models import Organization
from identity.users.models import User
from tests.support import codes, management
from tests.support.cast import World
from tests.support.codes import new_email, new_phone
from tests.support.enrollers import Enroller
from tests.support.management import result_of
from tests.support.threads import at_once, rounds

LIMIT = 60


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def came_by_code(world: World, address: str) -> None:
    browser = world.browser()
    answer = codes.enter(browser, address, codes.sent(browser, address))
    assert answer.status_code == 200, answer.text


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

    def test_attack_AP33_an_email_that_the_database_refuses_tells_nothing_of_a_phone(self, acme, mine):
        email = "a@" + ".".join(["\ufdfa" * 20] * 3) + ".de"  # 1,087 characters when it is compared
        known = new_phone()
        acme.user(phone=known)

        answers = [mine.post(phone=phone, email=email) for phone in (known, new_phone())]

        assert [answer.status_code for answer in answers] == [400, 400]
        assert {answer.json()["message"] for answer in answers} == {"email: must be an email address"}
        assert mine.members() == []

    def test_attack_AP33_whatever_the_database_refuses_is_counted(self, acme, mine, monkeypatch):
        def refuse(*_: Any, **__: Any) -> NoReturn:
            raise DataError

        monkeypatch.setattr(records, "create", refuse)
        application_id = UUID(mine.caller.id)
        with acme.active():
            organization = Organization.objects.get(pk=mine.organization)
            for _ in range(LIMIT):
                with pytest.raises(DataError):
                    enrolment.enroll(organization, phone=new_phone(), application_id=application_id)

        assert mine.post(phone=new_phone()).status_code == 429

    def test_new_people_are_not_counted(self, mine):
        answers = [mine.post(phone=new_phone()).status_code for _ in range(LIMIT + 5)]

        assert answers == [200] * (LIMIT + 5)


class TestPreparedAccounts:
    """My application makes an account of your phone and my email, before your organization joins you."""

    @pytest.fixture
    def hospital(self, acme: World) -> Enroller:
        return Enroller(acme, "Hospital")

    def test_attack_my_email_lets_me_into_the_organization_that_joined_your_phone(self, acme, mine, hospital):
        phone, email = new_phone(), new_email()
        result_of(mine.post(phone=phone, email=email))
        member = result_of(hospital.post(phone=phone, name="Nurse"))
        result_of(mine.caller.delete(f"{mine.path}/{member['id']}"))

        came_by_code(acme, email)

        assert hospital.members() == []

    def test_attack_i_wait_until_you_have_proven_your_phone_elsewhere(self, acme, mine, hospital):
        phone, email = new_phone(), new_email()
        result_of(mine.post(phone=phone, email=email))
        result_of(hospital.post(phone=phone))
        codes.experience(acme, sign_up={"identifiers": ["phone"], "password": False})
        browser = acme.browser()
        codes.proven(browser, phone, "register")
        assert browser.post(codes.REGISTER, json={"phone": phone}).status_code == 200

        came_by_code(acme, email)

        assert hospital.members() == []

    @pytest.mark.parametrize("turn", range(rounds(5)))
    def test_attack_i_prove_my_email_at_the_moment_you_are_joined(self, acme, mine, hospital, turn):
        phone, email = new_phone(), new_email()
        result_of(mine.post(phone=phone, email=email))
        attacker = acme.browser()
        code = codes.sent(attacker, email)

        def work(index: int) -> int:
            answer = codes.enter(attacker, email, code) if index else hospital.post(phone=phone)
            return int(answer.status_code)

        assert at_once(2, work) == [200, 200]

        assert email not in [one["primary_email"] for one in hospital.members()]

    def test_whose_phone_it_is_keeps_both(self, acme, mine, hospital):
        phone = new_phone()
        result_of(mine.post(phone=phone, email=new_email()))
        result_of(hospital.post(phone=phone))

        came_by_code(acme, phone)

        assert [one["primary_phone"] for one in hospital.members()] == [phone]
        assert [one["primary_email"] for one in mine.members()] == [None]

    def test_who_is_meant_by_the_email_keeps_what_named_it(self, acme, mine, hospital):
        phone, email = new_phone(), new_email()
        result_of(mine.post(phone=phone, email=email))
        result_of(hospital.post(phone=phone, email=email.upper()))

        came_by_code(acme, email)

        assert [one["primary_email"] for one in hospital.members() + mine.members()] == [email] * 2

    def test_the_log_says_why_somebody_is_no_member_any_more(self, acme, mine, hospital):
        phone, email = new_phone(), new_email()
        result_of(mine.post(phone=phone, email=email))
        result_of(hospital.post(phone=phone))
        came_by_code(acme, email)

        logs = management.superuser(acme).get("/logs", key="OrganizationMember.Delete")

        [entry] = result_of(logs)["data"]
        assert entry["payload"]["id"] == hospital.organization
        assert entry["payload"]["reason"] == "phone_lost"
