"""What the download of a user's data and the page of sign-ins say of other people (AP24)."""

import json
from typing import Any

import pytest

from audit import log
from audit.events import Event
from tests.support import codes, management
from tests.support.account import enter, send
from tests.support.cast import PASSWORD, Browser, World, signed_in
from tests.support.management import result_of
from tests.support.ownership import VICTIMS, came_by_code, recovered, registered, stored

OTHERS_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def downloaded(browser: Browser, password: str = PASSWORD) -> Any:
    answer = send(browser, "data", password=password)
    assert answer.status_code == 200, answer.text
    return answer.json()


def entry_of(data: Any, event: Event) -> Any:
    return next(entry for entry in data["activity"] if entry["key"] == event)


@pytest.mark.parametrize("caller", [management.superuser, management.machine])
def test_attack_AP24_who_ended_my_sessions_and_from_where(acme, caller):
    browser, user = signed_in(acme)
    there = caller(acme).saying(user_agent=OTHERS_BROWSER)

    result_of(there.delete(f"/users/{user.pk}/sessions"))
    browser.sign_in(user)
    data = downloaded(browser)

    ended = entry_of(data, Event.SESSION_END)
    assert (ended["ip"], ended["user_agent"], ended["application_id"]) == ("", "", None)
    assert set(ended["details"]) == {"count", "session_ids"}
    assert entry_of(data, Event.SIGN_IN_PASSWORD)["ip"] == "127.0.0.1"
    assert OTHERS_BROWSER not in json.dumps(data)


def test_attack_AP24_which_application_revoked_my_tokens_for_an_administrator(acme):
    browser, user, client = acme.browser(), acme.user(), acme.application()
    client.tokens_for(user, browser)
    there = management.machine(acme).saying(user_agent=OTHERS_BROWSER)

    result_of(there.delete(f"/users/{user.pk}/grants"))
    data = downloaded(browser)

    revoked = entry_of(data, Event.TOKEN_REVOKE)
    assert (revoked["ip"], revoked["user_agent"]) == ("", "")
    assert entry_of(data, Event.TOKEN_EXCHANGE)["application_id"] == str(client.application.pk)
    assert OTHERS_BROWSER not in json.dumps(data)


def test_attack_AP24_who_made_the_recovery_code_that_i_used(acme):
    browser, user = signed_in(acme)
    with acme.active():
        log.record(Event.USER_RECOVERY_CODE_USE, user_id=user.pk, id=user.pk, made_by="1")

    used = entry_of(downloaded(browser), Event.USER_RECOVERY_CODE_USE)

    assert used["details"] == {"id": str(user.pk)}


def test_attack_AP24_where_the_owner_of_an_address_that_i_squat_came_from(acme):
    mail = codes.new_email()
    squatter = registered(acme, email=mail)
    owner, _ = signed_in(acme)
    owner.http.headers["User-Agent"] = OTHERS_BROWSER

    send(owner, "email", identifier=mail, password=PASSWORD)
    enter(owner, "email", codes.message_to(mail)["code"])
    data = downloaded(squatter, "Attack3rpass!")

    removed = entry_of(data, Event.IDENTIFIER_REMOVE)
    assert (removed["ip"], removed["user_agent"]) == ("", "")
    assert OTHERS_BROWSER not in json.dumps(data)
    assert stored(acme, username="mallory").email == ""


def test_attack_AP24_of_which_organization_the_squatter_of_my_phone_was_a_member(acme):
    phone = codes.new_phone()
    for fields in ({"email": codes.new_email()}, {}):
        organization = str(management.superuser(acme).created("/organizations", name="HR")["id"])
        hr = management.member_manager(acme, organization)
        result_of(hr.post(f"/m2m/organizations/{organization}/members", phone=phone, **fields))
    squatter = stored(acme, phone=phone)
    browser, user = signed_in(acme)

    send(browser, "phone", identifier=phone, password=PASSWORD)
    enter(browser, "phone", codes.message_to(phone)["code"])
    data = downloaded(browser)

    assert stored(acme, username=user.username).phone == phone
    assert entry_of(data, Event.IDENTIFIER_TAKE)["ip"] == "127.0.0.1"
    assert str(squatter.pk) not in json.dumps(data)
    assert organization not in json.dumps(data)


def test_attack_AP24_from_where_the_earlier_holder_signed_in(acme):
    mail = codes.new_email()
    thief = acme.browser()
    thief.http.headers["User-Agent"] = OTHERS_BROWSER
    thief.post(codes.REGISTER, json={"username": "mallory", "password": "Attack3rpass!", "email": mail})

    owner = recovered(acme, mail)
    data, page = downloaded(owner, VICTIMS), owner.get("/account/activity").text

    assert OTHERS_BROWSER not in json.dumps(data)
    assert "Firefox" not in page
    assert [session["ip"] for session in data["sessions"]] == ["127.0.0.1"]
    assert entry_of(data, Event.USER_OWNER_CHANGE)["ip"] == "127.0.0.1"
    assert page.count("With your password") == 1


def test_attack_AP24_after_a_sign_in_by_code_too(acme):
    mail = codes.new_email()
    thief = registered(acme, email=mail)
    thief.http.headers["User-Agent"] = OTHERS_BROWSER
    thief.post("/api/interaction/sign-in", json={"identifier": "mallory", "password": "Attack3rpass!"})

    owner = came_by_code(acme, mail)

    page = owner.get("/account/activity").text
    assert "Firefox" not in page
    assert page.count("With a code") == 1
