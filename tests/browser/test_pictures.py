"""The pictures of the README and of docs/tour.md, as WebP. ``make pictures`` takes them."""

import base64
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

from identity.core import tenancy
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users.models import User
from management.administrators import services as administrators
from management.seeding.demo_data import seeding
from oidc.applications.models import Application
from tests.support.cast import PASSWORD, World
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("GATEHOUSE_PICTURES") != "1", reason="takes pictures: run make pictures"
)

PICTURES: Final = Path(__file__).resolve().parents[2] / "docs" / "images" / "tour"
QUALITY: Final = 82
# Those of the README are also taken in dark.
BOTH: Final = {"console-dashboard", "sign-in"}
_SCHEMES: Final = (("", "light"), ("-dark", "dark"))
WIDE: Final = {"width": 1280, "height": 800}
TALL: Final = {"width": 1280, "height": 1130}
PHONE: Final = {"width": 390, "height": 780}


@dataclass
class Camera:
    """A window whose pages are taken light and dark."""

    page: Page
    root: str

    def take(self, name: str, path: str = "", *, size: dict[str, int] | None = None) -> None:
        """Write the visible part of a page to ``name.webp``, and of some to ``name-dark.webp``."""
        self.page.set_viewport_size(size or WIDE)  # type: ignore[arg-type]
        for ending, scheme in _SCHEMES[: 2 if name in BOTH else 1]:
            self.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            if path:
                self.page.goto(f"{self.root}{path}")
            self.page.wait_for_load_state("networkidle")
            session = self.page.context.new_cdp_session(self.page)
            shot = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            PICTURES.mkdir(parents=True, exist_ok=True)
            (PICTURES / f"{name}{ending}.webp").write_bytes(base64.b64decode(shot["data"]))


@pytest.fixture
def books(address: str) -> World:
    """A tenant that has been in use for a quarter."""
    slug = f"books-{secrets.token_hex(2)}"
    seeding.prepare(seeding.Amounts(1, 60, 6, 900), slug=slug, choices=seeding.Choices(confirmed=True))
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = Tenant.objects.get(slug=slug)
        tenants.change(tenant, {"name": "Acme Books"}, is_proven=True)
    return World(tenant, f"{address}/t/{slug}")


def test_the_console(screens: Screens, books: World, address: str):
    with tenancy.using(tenancy.DEFAULT):
        olga = administrators.create(
            username=f"olga-{secrets.token_hex(2)}", password=PASSWORD, tenants=[books.tenant.slug]
        )
    with books.active():
        user, application = User.objects.order_by("username")[1], Application.objects.order_by("name")[0]
    camera = Camera(screens.open(viewport=WIDE), f"{address}/admin/")
    camera.page.goto(camera.root)
    camera.page.get_by_label("Username").fill(olga.username)
    camera.page.get_by_label("Password").fill(PASSWORD)
    camera.page.get_by_role("button", name="Sign in", exact=True).click()
    camera.page.get_by_role("heading", name="Acme Books", exact=True).wait_for()

    for name, path in {
        "dashboard": "",
        "users": "users/user/",
        "user": f"users/user/{user.pk}/change/",
        "application": f"applications/application/{application.pk}/change/",
        "new-application": "applications/application/do/create/",
        "connectors": "connectors/connector/",
        "new-connector": "connectors/connector/do/create-google/",
        "sign-in-experience": "experience/signinexperience/",
        "signing-keys": "keys/signingkey/",
        "audit-log": "audit/entry/?key=sign-ins",
        "delete-user": f"users/user/{user.pk}/do/delete/",
    }.items():
        camera.take(f"console-{name}", path or "?days=30", size=None if path else TALL)
    camera.take("console-dashboard-phone", "?days=7", size=PHONE)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_pages_of_users(screens: Screens, books: World, language: str):
    person = books.user("ada", name="Ada Lovelace", email="ada@books.example")
    camera = Camera(screens.open(viewport=WIDE, locale=language), books.address)
    ending = "" if language == "en" else f"-{language}"
    camera.take(f"sign-in{ending}", "/sign-in")
    camera.take(f"sign-in-phone{ending}", "/sign-in", size=PHONE)
    camera.page.locator("input[name=identifier]").fill(person.username or "")
    camera.page.locator("input[name=password]").fill(PASSWORD)
    camera.page.keyboard.press("Enter")
    camera.page.wait_for_url("**/account")

    for name in ("", "browsers", "applications"):
        camera.take(f"account-{name or 'home'}{ending}", f"/account/{name}".rstrip("/"))
