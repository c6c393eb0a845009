"""Notices: users must not cause as many as they like, and codes must still arrive."""

from collections.abc import Iterator

import pytest
from django.conf import settings

from identity.users import notices
from identity.users.notices import Notice
from interaction.verification import outgoing
from interaction.verification.models import OutgoingMessage
from tests.support import codes, management, second
from tests.support.cast import PASSWORD, Browser, World
from tests.support.codes import messages_to, new_email, new_phone
from tests.support.threads import wait_until

TEXTS, EMAILS = 10, 30
MESSAGES = 8


def change_password(browser: Browser) -> None:
    """Replace the own password by itself, which causes a notice."""
    browser.get("/account/password")
    form = {
        "csrfmiddlewaretoken": browser.http.cookies["gatehouse-csrf"],
        "password": PASSWORD,
        "new_password": PASSWORD,
    }
    assert browser.post("/account/password", data=form).status_code == 303


def wait_until_sent(world: World) -> None:
    outgoing.send_due()
    with world.active():
        assert wait_until(lambda: not OutgoingMessage.objects.exists())


@pytest.fixture
def reachable(acme: World) -> World:
    return codes.reachable(acme)


def test_attack_each_of_my_own_changes_is_a_text_to_a_premium_number(reachable):
    phone = new_phone()
    user, browser = reachable.user(phone=phone), reachable.browser()
    browser.sign_in(user)

    for _ in range(TEXTS + 2):
        change_password(browser)

    wait_until_sent(reachable)
    assert len(messages_to(phone)) == TEXTS


def test_attack_two_of_my_accounts_write_the_number_in_two_ways(reachable):
    phone = new_phone()
    zeros = phone.replace("+", "00")

    with reachable.active():
        for spelling in (phone, zeros):
            user = reachable.user(phone=spelling)
            for _ in range(TEXTS - 3):
                notices.notify(user, Notice.PASSWORD_CHANGED)

    wait_until_sent(reachable)
    assert len(messages_to(phone)) + len(messages_to(zeros)) == TEXTS


def test_attack_each_of_my_own_changes_is_a_mail(reachable):
    mail, other = new_email(), new_email()
    user, neighbour = reachable.user(email=mail), reachable.user(email=other)

    with reachable.active():
        for _ in range(EMAILS + 2):
            notices.notify(user, Notice.BACKUP_CODES_MADE)
        notices.notify(user, Notice.PASSWORD_CHANGED)
        notices.notify(neighbour, Notice.BACKUP_CODES_MADE)

    wait_until_sent(reachable)
    assert len(messages_to(mail)) == EMAILS + 1  # a flood of one kind suppresses no other
    assert len(messages_to(other)) == 1


@pytest.fixture(scope="module")
def guarded(address: str) -> Iterator[str]:
    """A server whose tenants send few text messages."""
    with second.running(LIMIT_TENANT_TEXT_MESSAGES=str(MESSAGES)) as address_:
        yield address_


def test_attack_notices_use_up_the_text_messages_of_all_codes(guarded: str, acme: World) -> None:
    world = codes.reachable(acme.at(guarded))
    token = management.administrator_token(settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD, guarded)
    admin = management.Caller(world, token)
    phones = [new_phone() for _ in range(MESSAGES)]
    for phone in phones:
        assert admin.patch(f"/users/{world.user(phone=phone).pk}/password", password=PASSWORD).is_success

    answers = [codes.send(world.browser(), phone) for phone in phones]

    assert [answer.status_code for answer in answers] == [200] * 2 + [429] * 6
    wait_until_sent(world)
    notices_sent = [one for phone in phones for one in messages_to(phone) if not one["code"]]
    assert len(notices_sent) == MESSAGES // 2
