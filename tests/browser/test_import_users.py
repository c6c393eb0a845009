"""Operators import users from a file in a real browser, without a script."""

import os

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from identity.users.models import User
from tests.support.cast import World
from tests.support.console_walk import LOOKS, sign_in
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)

FILE = "id,username,email\n1,ann,ann@example.com\n2,ben,\n" + "".join(
    f"{n},a name with spaces,{'x' * 60}{n}@example.com\n" for n in range(3, 30)
)


@pytest.mark.parametrize("look", LOOKS)
def test_a_file_is_checked_and_then_imported(screens: Screens, acme: World, look: str):
    # What axe itself does to follow style sheets, the policy would refuse.
    page = screens.open(**LOOKS[look], bypass_csp=True, reduced_motion="reduce")
    found: list[str] = []

    sign_in(page, acme)
    page.goto(f"{acme.address.partition('/t/')[0]}/admin/users/user/")
    page.get_by_role("link", name="Import users").first.click()
    _look(page, "form", found)
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_text("This field is required.")).to_be_visible()
    _look(page, "form, refused", found)
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "users.csv", "mimeType": "text/csv", "buffer": FILE.encode()}
    )
    page.get_by_role("button", name="Check file").click()
    expect(page.get_by_role("heading", name="Import 2 users")).to_be_visible()
    _look(page, "checked", found)
    with acme.active():
        assert not User.objects.exists()
    page.get_by_role("button", name="Import 2 users").click()
    expect(page.get_by_role("heading", name="2 users imported")).to_be_visible()
    _look(page, "result", found)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the refused lines").click()
    assert download.value.suggested_filename == "refused-users.csv"
    page.reload()
    expect(page.get_by_role("heading", name="2 users imported")).to_be_visible()
    page.get_by_role("link", name="Go to users").click()
    expect(page.get_by_text("ann@example.com")).to_be_visible()

    assert found == []
    with acme.active():
        assert User.objects.count() == 2


def _look(page: Page, name: str, found: list[str]) -> None:
    page.wait_for_load_state()
    found.extend(
        f"{name}: {violation['id']} {[node['target'] for node in violation['nodes']][:3]}"
        for violation in Axe().run(page).response["violations"]
    )
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{name}: wider than the screen")
