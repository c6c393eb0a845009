"""Reload, back and a double click on the operators' site do nothing twice and lose no secret."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from audit.models import Entry
from tests.support.cast import PASSWORD, World
from tests.support.operators import administrator
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)

APPLICATIONS = "/admin/applications/application"


def new_application(page: Page, _: World) -> str:
    return f"{APPLICATIONS}/do/create/"


def new_secret(_: Page, acme: World) -> str:
    return f"{APPLICATIONS}/{acme.application('MachineToMachine').application.pk}/do/secret/"


def suspend(_: Page, acme: World) -> str:
    return f"/admin/users/user/{acme.user().pk}/do/suspend/"


# The path of the form, what is typed into it, and the audit entry of what it does.
CASES: dict[str, tuple[Callable[[Page, World], str], dict[str, str], str]] = {
    "a new application": (new_application, {"Name": "Shop"}, "Application.Create"),
    "a new secret": (new_secret, {}, "Application.Update"),
    "a suspended user": (suspend, {}, "User.Update"),
}


def sign_in(page: Page, root: str, acme: World) -> None:
    who = administrator(tenants=[acme.tenant.slug])
    page.goto(f"{root}/admin/")
    page.get_by_label("Username").fill(who.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{root}/admin/")


def times(acme: World, event: str) -> int:
    return Entry.objects.filter(tenant_id=acme.tenant.pk, key=event).count()


def secret_on(page: Page) -> str:
    field = page.get_by_label("Client secret", exact=True)
    return field.input_value() if field.count() else ""


def is_there(response: Any) -> bool:
    return response is None or response.status == 200  # none: the browser has kept the page


@pytest.mark.parametrize("case", CASES)
def test_a_form_is_done_once(screens: Screens, acme: World, case: str):
    path_of, fields, event = CASES[case]
    root = acme.address.partition("/t/")[0]
    page = screens.open()
    sign_in(page, root, acme)
    form = f"{root}{path_of(page, acme)}"
    page.goto(form)
    for label, value in fields.items():
        page.get_by_label(label, exact=True).fill(value)
    if case == "a new application":
        page.get_by_role("radio", name="Web app").check()
    before = times(acme, event)

    page.locator("#operation input.default").dblclick()
    # Not wait_for_url, which fails if the second click ends the navigation that it waits for.
    expect(page).not_to_have_url(form, timeout=30_000)
    page.wait_for_load_state("networkidle")
    shown, secret = page.url, secret_on(page)
    answers = [page.reload(), page.go_back(), page.go_forward(), page.reload()]

    assert times(acme, event) == before + 1
    assert all(is_there(answer) for answer in answers)
    assert page.url == shown
    assert secret_on(page) == secret
    assert bool(secret) == (case != "a suspended user")
    assert screens.complaints == []
    if secret:
        page.get_by_role("button", name="Done").click()
        page.wait_for_url("**/change/")
        late = page.goto(shown)
        assert late is not None
        assert late.status == 410
        assert "no longer shown" in page.inner_text("#content-main")
