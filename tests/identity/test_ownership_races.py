"""Proofs that meet at one moment: one of them counts, whole, and nobody sees a server error."""

import pytest

from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support import codes, management
from tests.support.cast import Browser, World
from tests.support.codes import new_email, new_phone
from tests.support.threads import at_once, rounds

PASSWORD = "a good password 1"


@pytest.fixture
def acme(acme: World) -> World:
    codes.experience(codes.reachable(acme), sign_up={"identifiers": ["username", "email"]})
    return acme


def registered(world: World, username: str, **fields: str) -> Browser:
    browser = world.browser()
    answer = browser.post(codes.REGISTER, json={"username": username, "password": PASSWORD} | fields)
    assert answer.status_code in {200, 400}, answer.text
    if "email" not in fields:
        return browser
    assert answer.status_code == 200, answer.text
    return browser


def stored(world: World, **of: str) -> list[User]:
    with world.active():
        return list(User.objects.filter(**of))


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


@pytest.mark.parametrize("turn", range(rounds(5)))
def test_decision_N1_2_of_two_people_who_prove_at_once_one_gets_the_account(acme, turn):
    mail, phone = new_email(), new_phone()
    registered(acme, "u", email=mail, phone=phone)
    people = [(acme.browser(), mail), (acme.browser(), phone)]
    sent = [codes.sent(browser, to) for browser, to in people]

    answers = at_once(2, lambda index: codes.enter(people[index][0], people[index][1], sent[index]))

    assert sorted(answer.status_code for answer in answers) == [200, 400]
    (user,) = stored(acme, username="u")
    winner = 0 if answers[0].status_code == 200 else 1
    assert (user.email, user.phone) == ((mail, ""), ("", phone))[winner]
    assert [is_in(browser) for browser, _ in people] == [winner == 0, winner == 1]


@pytest.mark.parametrize("turn", range(rounds(5)))
def test_decision_N1_3_a_proof_against_an_administrator_s_edit(acme, turn):
    mail = new_email()
    registered(acme, "squatter", email=mail)
    customer, owner, admin = acme.user("customer"), acme.browser(), management.superuser(acme)
    codes.proven(owner, mail, "register")
    mine = {"username": "owner", "email": mail, "password": PASSWORD}

    def work(index: int) -> int:
        if index:
            return int(admin.patch(f"/users/{customer.pk}", primary_email=mail).status_code)
        return int(owner.post(codes.REGISTER, json=mine).status_code)

    answers = at_once(2, work)

    assert sorted(answers) == [200, 400]
    (holder,) = stored(acme, email=mail)
    assert holder.username == ("owner" if answers[0] == 200 else "customer")
    assert holder.has_proven(Kind.EMAIL)


@pytest.mark.parametrize("turn", range(rounds(5)))
def test_decision_N1_2_a_proof_against_a_sign_in_by_the_old_password(acme, turn):
    mail = new_email()
    registered(acme, "mallory", email=mail)
    attacker, victim = acme.browser(), acme.browser()
    code = codes.sent(victim, mail)

    def work(index: int) -> int:
        if index:
            asked = {"identifier": "mallory", "password": PASSWORD}
            return int(attacker.post("/api/interaction/sign-in", json=asked).status_code)
        return int(codes.enter(victim, mail, code).status_code)

    proof, sign_in = at_once(2, work)

    assert proof == 200
    assert sign_in in {200, 401}
    assert is_in(victim)
    assert not is_in(attacker)
    assert stored(acme, username="mallory")[0].password == ""


@pytest.mark.parametrize("turn", range(rounds(5)))
def test_decision_N1_3_two_people_take_from_each_other_at_once(acme, turn):
    """Each holds what the other proves: no deadlock occurs."""
    mails = [new_email(), new_email()]
    browsers = [
        registered(acme, f"u{index}", email=mails[1 - index], phone=new_phone()) for index in range(2)
    ]
    for index, browser in enumerate(browsers):
        browser.get("/account/email")
        token = browser.http.cookies["gatehouse-csrf"]
        typed = {"csrfmiddlewaretoken": token, "identifier": mails[index], "password": PASSWORD}
        assert browser.post("/account/email", data=typed).status_code == 303

    def work(index: int) -> int:
        token = browsers[index].http.cookies["gatehouse-csrf"]
        typed = {"csrfmiddlewaretoken": token, "code": codes.message_to(mails[index])["code"]}
        return int(browsers[index].post("/account/email/code", data=typed).status_code)

    answers = at_once(2, work)

    assert answers == [303, 303]
    for index in range(2):
        (user,) = stored(acme, username=f"u{index}")
        assert (user.email, user.email_verified) == (mails[index], True)
