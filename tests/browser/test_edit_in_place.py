"""Editing a card of the operators' site in place, in a browser with and without scripts."""

import os
import re
import time
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Locator, Page, expect

from audit.models import Entry
from identity.users.models import User
from management.administrators.models import Administrator
from management.site import idle_sessions
from management.site.sessions import SessionStore
from tests.support.cast import PASSWORD, World
from tests.support.operators import administrator
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page works the same on every engine"
)


def sign_in(screens: Screens, acme: World, *, scripts: bool, role: str = "administrator") -> Page:
    page = screens.open(java_script_enabled=scripts)
    who = administrator(tenants=[acme.tenant.slug], role=role)
    page.goto(f"{root(acme)}/admin/")
    page.get_by_label("Username").fill(who.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{root(acme)}/admin/")
    return page


def root(acme: World) -> str:
    return acme.address.partition("/t/")[0]


def open_card(page: Page, acme: World, user: User) -> Locator:
    """Open the page of a user, and the form of the card with the name and the addresses."""
    page.goto(f"{root(acme)}/admin/users/user/{user.pk}/change/")
    card = page.get_by_role("region", name="Account", exact=True)
    card.get_by_role("link", name="Edit Account").click()
    expect(card.get_by_label("Email")).to_be_in_viewport()
    return card


def save(card: Locator) -> None:
    card.get_by_role("button", name="Save changes").click()


def name_of(acme: World, user: User) -> str:
    with acme.active():
        return User.objects.get(pk=user.pk).name


def count_changes(acme: World) -> int:
    return Entry.objects.filter(tenant_id=acme.tenant.pk, key="User.Update").count()


def test_a_card_is_edited_and_shown_again(screens: Screens, acme: World, scripts: bool):
    page, user = sign_in(screens, acme, scripts=scripts), acme.user(name="Ada")
    card = open_card(page, acme, user)
    card.get_by_label("Name").fill("Countess")

    save(card)

    expect(page).to_have_url(re.compile(r"/change/#card-change$"))
    expect(page.get_by_role("status")).to_be_in_viewport()
    expect(card.get_by_text("Countess")).to_be_in_viewport()
    expect(card.get_by_role("textbox")).to_have_count(0)
    assert name_of(acme, user) == "Countess"
    assert screens.complaints == []


def test_an_error_has_the_focus_in_the_card(screens: Screens, acme: World, scripts: bool):
    page, user = sign_in(screens, acme, scripts=scripts), acme.user(name="Ada")
    card = open_card(page, acme, user)
    card.get_by_label("Name").fill("Countess")
    card.get_by_label("Email").fill("no address")

    save(card)

    email = card.get_by_label("Email")
    expect(email).to_be_focused()
    expect(email).to_be_in_viewport()
    expect(email).to_have_value("no address")
    expect(email).to_have_attribute("aria-invalid", "true")
    expect(card.get_by_label("Name")).to_have_value("Countess")
    email.fill("ada@acme.example")
    save(card)
    expect(card.get_by_text("ada@acme.example")).to_be_visible()
    assert screens.complaints == []


def test_cancel_saves_nothing_and_stays_at_the_card(screens: Screens, acme: World, scripts: bool):
    page, user = sign_in(screens, acme, scripts=scripts), acme.user(name="Ada")
    card = open_card(page, acme, user)
    card.get_by_label("Name").fill("Countess")

    card.get_by_role("link", name="Cancel").click()

    expect(card.get_by_text("Ada", exact=True)).to_be_in_viewport()
    assert name_of(acme, user) == "Ada"
    assert count_changes(acme) == 0


def test_back_and_reload_save_nothing_twice(screens: Screens, acme: World, scripts: bool):
    page, user = sign_in(screens, acme, scripts=scripts), acme.user(name="Ada")
    card = open_card(page, acme, user)
    card.get_by_label("Name").fill("Countess")
    save(card)
    expect(card.get_by_text("Countess")).to_be_visible()

    answers: list[Any] = [page.reload(), page.go_back(), page.reload(), page.go_forward(), page.reload()]

    assert all(answer is None or answer.status == 200 for answer in answers)
    expect(card.get_by_text("Countess")).to_be_visible()
    assert count_changes(acme) == 1


def test_the_second_of_two_administrators_reads_it_in_the_card(screens: Screens, acme: World, scripts: bool):
    user = acme.user(name="Ada")
    first, second = (open_card(sign_in(screens, acme, scripts=scripts), acme, user) for _ in range(2))
    first.get_by_label("Name").fill("First")
    second.get_by_label("Name").fill("Second")

    save(first)
    expect(first.get_by_text("First")).to_be_visible()
    save(second)

    note = second.get_by_text("Someone else has changed this since you opened the page.")
    expect(note).to_be_focused()
    expect(note).to_be_in_viewport()
    expect(second.get_by_label("Name")).to_have_value("Second")
    second.get_by_role("link", name="Load the page again").click()
    expect(second.get_by_label("Name")).to_have_value("First")
    assert name_of(acme, user) == "First"


def test_support_sees_no_link_where_it_may_not_edit(screens: Screens, acme: World):
    page, user = sign_in(screens, acme, scripts=True, role="support"), acme.user(name="Ada")

    page.goto(f"{root(acme)}/admin/users/user/{user.pk}/change/")

    expect(page.get_by_role("region", name="Account", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("^Edit (Account|Profile)$"))).to_have_count(0)
    expect(page.get_by_role("button", name="Save changes")).to_have_count(0)


def test_the_preview_follows_the_form_in_a_card(screens: Screens, acme: World):
    page = sign_in(screens, acme, scripts=True)
    page.goto(f"{root(acme)}/admin/experience/signinexperience/")
    page.get_by_role("link", name="Edit Sign-up").click()

    page.get_by_role("region", name="Sign-up", exact=True).get_by_label("Username").uncheck()

    frame = page.frame_locator(".preview iframe:not(.loading)")
    expect(frame.get_by_text("Create an account")).to_have_count(0)
    assert screens.complaints == []


def test_what_was_typed_is_there_after_an_idle_session(screens: Screens, acme: World, scripts: bool):
    page, user = sign_in(screens, acme, scripts=scripts), acme.user(name="Ada")
    card = open_card(page, acme, user)
    card.get_by_label("Name").fill("Countess")
    (cookie,) = [one for one in page.context.cookies() if one["name"] == settings.SESSION_COOKIE_NAME]
    store = SessionStore(session_key=cookie["value"])
    store[idle_sessions._KEY] = int(time.time()) - settings.ADMIN_IDLE_SECONDS - 1
    store.save()
    who = Administrator.objects.get(pk=store["_auth_user_id"])

    save(card)
    expect(page.get_by_text("What you typed is stored for 15 minutes.")).to_be_visible()
    page.get_by_label("Username").fill(who.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    expect(card.get_by_text("Not saved yet")).to_be_in_viewport()
    expect(card.get_by_label("Name")).to_have_value("Countess")
    assert name_of(acme, user) == "Ada"
    save(card)
    expect(card.get_by_text("Countess")).to_be_visible()
    assert count_changes(acme) == 1
    assert screens.complaints == []
