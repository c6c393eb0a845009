"""A user who may not use an application, and the box for staying signed in, in a real browser."""

import pytest
from playwright.sync_api import Page, expect

from identity.roles.models import Role
from oidc.settings import services as oidc_settings
from tests.support import codes
from tests.support.cast import World, query_of
from tests.support.codes import message_to, new_email
from tests.support.journeys import shows, sign_in, start


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def expiry(page: Page) -> float:
    """When the session's cookie expires; -1 if it ends with the browser."""
    [found] = [cookie for cookie in page.context.cookies() if "gatehouse-session" in cookie["name"]]
    return float(found["expires"])


def test_a_user_without_access_returns_to_the_application(acme, screens, site, scripts):
    with acme.active():
        role = Role.objects.create(name="Staff", type=Role.Type.USER)
    client = acme.application(name="Payroll", redirect_uris=[site.callback], allowed_role_ids=[str(role.pk)])
    page = screens.open(java_script_enabled=scripts, viewport={"width": 390, "height": 844})

    start(page, client)
    sign_in(page, acme.user())
    shows(page, "You can't use Payroll")
    page.get_by_role("button", name="Return to Payroll").click()
    page.wait_for_url(f"{site.callback}?**")

    assert query_of(page.url)["error"] == "access_denied"


@pytest.mark.parametrize("ticked", [True, False])
def test_decision_Q16_the_box_goes_along_with_the_code(acme, screens, site, scripts, ticked):
    with acme.active():
        oidc_settings.change({"keep_signed_in": True}, is_proven=True)
    address = new_email()
    acme.user(email=address)
    client = acme.application(name="Payroll", redirect_uris=[site.callback])
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_label("Keep me signed in").set_checked(ticked)
    page.get_by_role("button", name="Sign in with a code").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Get a code to sign in")
    expect(page.get_by_label("Keep me signed in")).to_be_checked(checked=ticked)
    page.get_by_label("Email or phone").fill(address)
    page.get_by_role("button", name="Send code").click()
    page.get_by_label("Code", exact=True).fill(message_to(address)["code"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{site.callback}?**")

    assert (expiry(page) > 0) == ticked
