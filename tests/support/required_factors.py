"""Organizations and APIs that require a stronger sign-in, and a browser that is remembered in place of it."""

from collections.abc import Sequence
from typing import Any

import httpx

from interaction.experience import services as experiences
from tests.support import management
from tests.support.cast import Browser, World
from tests.support.factors import TOTP, App, half, has_session, switch_on
from tests.support.management import result_of

INDICATOR = "https://payroll.example"
TWO = "urn:service:acr:2fa"


class Setting:
    """A member of an organization, in a tenant that has second factors and asks nobody for one."""

    def __init__(self, world: World, *, factors: Sequence[str] = ("Totp",), **mfa: Any) -> None:
        self.world = switch_on(world, *factors, **mfa)
        self.admin = management.superuser(world)
        self.user = world.user()
        self.organization = self.admin.created("/organizations", name="Clinic")["id"]
        path = f"/organizations/{self.organization}"
        result_of(self.admin.post(f"{path}/users", user_ids=[str(self.user.pk)]))
        self.client = world.application()

    def require(self, *, is_required: bool = True) -> None:
        """Let the organization require two factors, or no longer."""
        result_of(self.admin.patch(f"/organizations/{self.organization}", is_mfa_required=is_required))

    def require_acr(self, acr: str) -> Any:
        """Create an API that requires a level."""
        return self.admin.created("/resources", name="Payroll", indicator=INDICATOR, required_acr=acr)

    def refresh(self, token: str, **target: Any) -> httpx.Response:
        return self.client.refresh(token, **target)


def that_remembers(world: World, **options: Any) -> Setting:
    """An organization that requires two factors, in a tenant in which browsers can be remembered."""
    setting = Setting(world, **options)
    with world.active():
        experiences.change({"trusted_device_policy": {"enabled": True}}, is_proven=True)
    setting.require()
    return setting


def remembered_browser(setting: Setting, app: App) -> Browser:
    """A remembered browser, in which the user signed in again without the second factor."""
    browser = setting.world.browser()
    half(browser, setting.user)
    assert has_session(browser.post(TOTP, json={"code": app.code(), "remember": True}))
    keep_only_the_memory(browser)
    assert has_session(browser.sign_in(setting.user))
    return browser


def keep_only_the_memory(browser: Browser) -> None:
    """Delete all cookies but the one by which a browser is remembered."""
    browser.http.cookies = {
        item.name: str(item.value) for item in browser.http.cookies.jar if "gatehouse-known" in item.name
    }


def refused(answer: httpx.Response, why: str) -> bool:
    """Say whether a token request is refused because a factor is missing, for this reason."""
    body = answer.json()
    description = body.get("error_description", "")
    return (
        (answer.status_code, body.get("error")) == (400, "invalid_request")
        and description.startswith("mfa_required: ")
        and why in description
    )
