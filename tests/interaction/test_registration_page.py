"""/register: addresses are proven before the account exists, wherever a code can be sent."""

import pytest

from identity.users.identifiers import Kind
from identity.users.models import User
from tests.support import codes
from tests.support.cast import Browser, World
from tests.support.codes import experience, message_to, new_email, new_phone
from tests.support.forms import form, forms

PASSWORD = "a good password 1"


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def asks_for(world: World, *identifiers: str, verify: bool = False) -> Browser:
    experience(world, sign_up={"identifiers": list(identifiers), "password": True, "verify": verify})
    return world.browser()


def people(world: World) -> list[User]:
    with world.active():
        return list(User.objects.all())


def proves(browser: Browser, address: str, page: str = "/register"):
    """Ask for a code on the page, type it in, and return the page that follows."""
    asked = form(browser.get(page)).submit(browser, identifier=address)
    answer = forms(asked)[0].submit(browser, code=message_to(address)["code"])
    assert answer.status_code == 303, answer.text
    return browser.get(answer.headers["Location"])


def submitted(browser: Browser, page: str, **typed: str):
    """Fill in the form of a page that is sent to its own address."""
    return browser.post(page, data=form(browser.get(page)).fields | typed)


def test_decision_N1_5_an_email_is_proven_before_the_account_exists(acme):
    browser, mail = asks_for(acme, "username", "email"), new_email()

    details = proves(browser, mail)
    before = people(acme)
    answer = form(details).submit(browser, username="ada", password=PASSWORD)

    assert before == []
    assert answer.status_code == 303, answer.text
    (user,) = people(acme)
    assert (user.email, user.email_verified, user.has_proven(Kind.EMAIL)) == (mail, True, True)


def test_decision_N1_5_a_person_may_go_on_without_an_address_that_gets_no_code(acme):
    browser, mail = asks_for(acme, "username", "email"), new_email()
    asked = form(browser.get("/register")).submit(browser, identifier=mail)

    assert "Continue without an email address" in asked.text
    details = browser.get("/register?without=email")
    answer = form(details).submit(browser, username="ada", password=PASSWORD)

    assert answer.status_code == 303, answer.text
    (user,) = people(acme)
    assert (user.username, user.email) == ("ada", "")


def test_decision_N1_5_of_two_addresses_each_can_be_left_out_alone(acme):
    browser, phone = asks_for(acme, "email", "phone"), new_phone()

    details = proves(browser, phone, "/register?without=email")
    answer = form(details).submit(browser, password=PASSWORD)

    assert answer.status_code == 303, answer.text
    assert people(acme)[0].phone == phone
    both = asks_for(acme, "email", "phone").get("/register?without=email&without=phone")
    assert "Send code" in both.text


@pytest.mark.parametrize(
    ("identifiers", "verify"), [(("email",), False), (("username", "email"), True), (("email",), True)]
)
def test_decision_N1_5_where_nothing_else_is_left_or_a_proof_is_required_nobody_goes_on(
    acme, identifiers, verify
):
    browser = asks_for(acme, *identifiers, verify=verify)

    page = browser.get("/register?without=email&without=username&without=nonesuch")
    asked = form(page).submit(browser, identifier=new_email())

    assert "Continue without" not in page.text + asked.text
    assert 'name="password"' not in page.text


def test_decision_N1_5_a_code_that_is_not_sent_is_no_dead_end(acme):
    browser, mail = asks_for(acme, "username", "email"), new_email()

    refused = form(browser.get("/register")).submit(browser, identifier="no address")

    assert refused.status_code == 400
    assert 'href="' in refused.text
    assert "Continue without an email address" in refused.text
    assert mail not in refused.text


def test_decision_N1_5_where_no_message_can_be_delivered_the_page_asks_as_before(rival):
    browser, mail = asks_for(rival, "username", "email"), new_email()

    answer = form(browser.get("/register")).submit(browser, username="ada", email=mail, password=PASSWORD)

    assert answer.status_code == 303, answer.text
    assert not people(rival)[0].has_proven(Kind.EMAIL)
    assert mail in browser.get("/account").text


def test_an_address_that_an_administrator_gave_gets_codes_without_being_confirmed(acme):
    browser, other, mail = acme.browser(), acme.browser(), new_email()
    browser.sign_in(acme.user(email=mail))

    page = browser.get("/account")
    answer = codes.enter(other, mail, codes.sent(other, mail))

    assert "Confirm it so that applications see it as confirmed." in page.text
    assert "nobody else can claim it" not in page.text
    assert answer.status_code == 200


def test_decision_N1_1_the_account_page_offers_to_confirm_an_address(acme):
    browser, mail = acme.browser(), new_email()
    browser.post(codes.REGISTER, json={"username": "ada", "email": mail, "password": PASSWORD})

    page = browser.get("/account")
    asked = submitted(browser, "/account/email", password=PASSWORD)
    answer = submitted(browser, asked.headers["Location"], code=message_to(mail)["code"])

    assert "Confirm it so that nobody else can claim it." in page.text
    assert answer.status_code == 303
    assert people(acme)[0].has_proven(Kind.EMAIL)
    assert browser.get("/account").status_code == 200
    typed = {"identifier": "ada", "password": PASSWORD}
    assert acme.browser().post("/api/interaction/sign-in", json=typed).status_code == 200


@pytest.mark.parametrize("name", ["Ada\x07", "Ada\nLovelace", "Ada\x85Lovelace"])
def test_a_name_has_no_control_characters(acme, name):
    browser = asks_for(acme, "username")

    answer = submitted(browser, "/register", username="ada", password=PASSWORD, name=name + "!")

    assert answer.status_code == 400
    assert "control characters" in answer.text
    assert people(acme) == []
