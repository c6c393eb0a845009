"""A stranger has the mailbox of an address that the owner replaces while the stranger resets the password."""

from threading import Event

import pytest
from django.db import connection, transaction

from identity.users import credentials, ownership, passwords
from identity.users import services as users
from identity.users.identifiers import parse
from identity.users.models import User
from tests.support import account, codes, management
from tests.support.cast import PASSWORD, Browser, World
from tests.support.codes import new_email
from tests.support.in_process import InProcessWorld
from tests.support.management import result_of
from tests.support.stalled import Stalled, interrupted
from tests.support.threads import at_once, count_waiting, wait_until

STOLEN = "Attack3r-was-here"


@pytest.fixture
def tenant(acme: World) -> World:
    return codes.reachable(acme)


def owner_replaces(tenant: World, user: User, new: str) -> None:
    """The owner proves another email on the account page."""
    browser = tenant.browser()
    browser.sign_in(user)
    assert account.send(browser, "email", identifier=new, password=PASSWORD).is_redirect
    assert account.send(browser, "email/code", code=codes.message_to(new)["code"]).is_redirect


def administrator_replaces(tenant: World, user: User, new: str) -> None:
    result_of(management.superuser(tenant).patch(f"/users/{user.pk}", email=new, email_verified=True))


def owner_changes_the_spelling(tenant: World, user: User, new: str) -> None:
    """Two mailboxes can have one key: see ``identifiers``."""
    with tenant.active():
        User.objects.filter(pk=user.pk).update(email=user.email.upper())


@pytest.mark.parametrize(
    "replace",
    [owner_replaces, administrator_replaces, owner_changes_the_spelling],
    ids=lambda way: way.__name__,
)
def test_attack_AV38_a_former_address_sets_no_password(tenant, monkeypatch, replace):
    """The address is replaced while the new password is hashed."""
    old, new = new_email(), new_email()
    user = tenant.user(email=old, email_verified=True)
    attacker = tenant.browser()
    codes.proven(attacker, old, "forgot_password")
    near = InProcessWorld.of(tenant).browser()
    near.http.cookies.update(attacker.http.cookies)
    stalled = Stalled.at(monkeypatch, passwords, "hash_password")

    answer = interrupted(
        stalled,
        lambda: near.post(codes.RESET, json={"identifier": old, "new_password": STOLEN}),
        lambda: replace(tenant, user, new),
    )

    assert answer.status_code == 400, answer.text
    assert signs_in(tenant.browser(), user, PASSWORD)
    assert not signs_in(tenant.browser(), user, STOLEN)


def test_the_notice_goes_to_the_addresses_of_now(tenant, monkeypatch):
    """The owner adds an email while the password is reset by text message."""
    phone, new = codes.new_phone(), new_email()
    user = tenant.user(phone=phone, phone_verified=True)
    browser = tenant.browser()
    codes.proven(browser, phone, "forgot_password")
    near = InProcessWorld.of(tenant).browser()
    near.http.cookies.update(browser.http.cookies)
    stalled, told = Stalled.at(monkeypatch, passwords, "hash_password"), []
    monkeypatch.setattr(credentials, "notify", lambda person, _: told.append(person.email))

    answer = interrupted(
        stalled,
        lambda: near.post(codes.RESET, json={"identifier": phone, "new_password": STOLEN}),
        lambda: administrator_replaces(tenant, user, new),
    )

    assert answer.status_code == 200, answer.text
    assert told == [new]


@pytest.mark.skipif(
    connection.vendor != "postgresql",
    reason="real concurrency is tested on PostgreSQL: --engine=postgres",
)
def test_attack_AV38_nor_while_the_change_commits(tenant):
    """The reset waits for the row of the user, which the change of the address has locked."""
    old, new = new_email(), new_email()
    user = tenant.user(email=old, email_verified=True)
    (kind, key), is_changed = parse(old), Event()

    def work(index: int) -> str:
        with tenant.active(), transaction.atomic():
            if index:
                users.change(
                    User.objects.get(pk=user.pk), {"email": new, "email_verified": True}, is_proven=True
                )
                is_changed.set()
                assert wait_until(lambda: count_waiting() > 0)
                return "changed"
            assert is_changed.wait(20)
            try:
                credentials.reset_password(user, "hash", kind=kind, key=key)
            except ownership.NotTheOwner:
                return "refused"
            return "reset"

    assert at_once(2, work) == ["refused", "changed"]
    with tenant.active():
        assert User.objects.get(pk=user.pk).password == user.password


def signs_in(browser: Browser, user: User, password: str) -> bool:
    typed = {"identifier": user.username, "password": password}
    return browser.post("/api/interaction/sign-in", json=typed).status_code == 200
