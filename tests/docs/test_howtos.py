"""A how-to page does what it says, in a fresh folder and by its own words."""

import json
import os
import re
import tempfile
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support import howtos, packages
from tests.support.cast import PASSWORD
from tests.support.howtos import Page

# Pages of applications that users sign in to; all of them have the same two buttons.
WEB = [
    "flask",
    "fastapi",
    "django",
    "python",
    "express",
    "openid-client",
    "passport",
    "single-page",
    "authjs",
    "apache",
]


APACHE_MODULE = Path("/usr/lib/apache2/modules/mod_auth_openidc.so")


@pytest.fixture(name="folder")
def make_folder():
    """Make a folder that every user may read, which Apache needs when root starts it."""
    with tempfile.TemporaryDirectory(prefix="how-to-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(name="follow")
def read(request):
    """Read a page, unless its packages have to be fetched and may not be."""

    def open_page(name):
        page = Page(name)
        if howtos.lacks(page) and not os.environ.get("GATEHOUSE_THOROUGH"):
            pytest.skip("it fetches packages: only with GATEHOUSE_THOROUGH=1")
        if name == "apache" and not APACHE_MODULE.exists():
            packages.lacking("mod_auth_openidc", "Debian: apt install libapache2-mod-auth-openidc")
        return page

    return open_page


def keys(world, registered):
    values = {"ISSUER": world.issuer, "CLIENT_ID": registered["client_id"]}
    return values | {"CLIENT_SECRET": registered.get("client_secret") or "none"}


def press(page, name):
    link = page.get_by_role("link", name=name, exact=True)
    link.or_(page.get_by_role("button", name=name, exact=True)).click()


def enter(page, username):
    page.get_by_label("Username, email or phone").fill(username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.mark.parametrize("name", WEB)
def test_signs_each_user_in_and_out(name, follow, acme, screens, folder):
    page = follow(name)
    acme.user("ada", name="Ada Lovelace", email="ada@example.com")
    acme.user("grace", name="Grace Hopper", email="grace@example.com")
    values = keys(acme, howtos.register(page, acme))
    with howtos.running(page, folder, **values) as address:
        one, other = screens.open(), screens.open()
        for window, username, person in ((one, "ada", "Ada Lovelace"), (other, "grace", "Grace Hopper")):
            window.goto(address)
            press(window, "Sign in")
            enter(window, username)
            expect(window.get_by_text(f"Hello, {person}")).to_be_visible()
            expect(window.get_by_text(f"{username}@example.com")).to_be_visible()

        # One user's sign-in is not the other's.
        one.reload()
        expect(one.get_by_text("Hello, Ada Lovelace")).to_be_visible()

        with one.expect_navigation(url=f"{address}/**"):  # back from the sign-out
            press(one, "Sign out")
        expect(one.get_by_text("Sign in", exact=True)).to_be_visible()
        one.goto(f"{acme.address}/account")
        assert one.url.startswith(f"{acme.address}/sign-in")
        other.reload()
        expect(other.get_by_text("Hello, Grace Hopper")).to_be_visible()


@pytest.mark.parametrize("name", ["flask", "fastapi", "python", "express", "openid-client", "passport"])
def test_says_why_a_sign_in_failed(name, follow, acme, screens, tmp_path):
    page = follow(name)
    values = keys(acme, howtos.register(page, acme))
    with howtos.running(page, tmp_path, **values) as address:
        window = screens.open()
        window.goto(f"{address}/callback?error=access_denied&error_description=Not+today&state=x")
        expect(window.get_by_text("You are not signed in")).to_be_visible()
        expect(window.get_by_text("Try again")).to_be_visible()


@pytest.mark.parametrize(("name", "what"), [("api-python", "orders"), ("api-node", "parcels")])
def test_answers_callers_with_a_token(name, what, follow, acme, tmp_path):
    page = follow(name)
    values = keys(acme, howtos.register(page, acme))
    with howtos.running(page, tmp_path, **values):
        said = howtos.follow(page, tmp_path, "Run", "bash", **values)
        assert json.loads(said) == {"caller": values["CLIENT_ID"], what: []}
        refused = howtos.shell(f"curl -si http://localhost:{page.port}/{what}")
        assert refused.startswith("HTTP/1.1 401")
        assert 'Bearer error="invalid_request"' in refused


def test_a_program_gets_a_token_for_itself(follow, acme, tmp_path):
    page = follow("machines")
    values = keys(acme, howtos.register(page, acme))
    howtos.write(page, tmp_path)

    said = howtos.follow(page, tmp_path, "Run", "sh", **values)
    by_hand = json.loads(howtos.follow(page, tmp_path, "Run", "bash", **values))

    assert said == "Got a token with the scope read:invoices, valid for 3600 seconds.\n"
    assert said.strip() in page.sections["Run"]
    assert by_hand["scope"] == "read:invoices"


def test_a_native_program_signs_its_user_in(follow, acme, screens, tmp_path):
    page = follow("native")
    acme.user("ada", name="Ada Lovelace", email="ada@example.com")
    values = keys(acme, howtos.register(page, acme))
    with howtos.started(page, tmp_path, **values) as process:
        window, log = screens.open(), tmp_path / "log"
        window.goto(wait_for(log, r"open (http\S+)"))
        enter(window, "ada")
        expect(window.get_by_text("You can close this window")).to_be_visible()
        assert process.wait(20) == 0
    assert "Hello, Ada Lovelace\nYour email address: ada@example.com\n" in log.read_text()


def wait_for(log, pattern):
    deadline = time.monotonic() + 30
    while not (found := re.search(pattern, log.read_text())):
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.1)
    return found[1]
