"""The page of an expired sign-in leads on: to the application, to the account page, or to a new sign-in."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from oidc.applications.models import Application
from oidc.grants.models import AuthorizationRequest
from tests.support.cast import Browser, RelyingParty, World, query_of
from tests.support.pages import EXPIRED, followed, opened, title, typed

LOGIN = "https://shop.example/login"
HOME = "https://shop.example/"


def interaction_of(page: Any) -> str:
    (found,) = set(re.findall(r'name="interaction" value="([^"]+)"', page.text))
    return str(found)


def link_on(page: Any) -> tuple[str, str] | None:
    """The address and the words of the button, if there is one."""
    found = re.search(r'<a class="button button-primary" href="([^"]+)">([^<]+)</a>', page.text)
    return (html.unescape(found[1]), html.unescape(found[2])) if found else None


def finished(acme: World, client: RelyingParty) -> tuple[Browser, Any]:
    """Somebody who signed in to an application and went back."""
    browser, user = acme.browser(), acme.user()
    interaction = interaction_of(opened(browser, client))
    form = typed(user, interaction=interaction)
    token = re.search(
        r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.get(f"/sign-in?interaction={interaction}").text
    )
    answer = browser.post("/sign-in", data=form | ({"csrfmiddlewaretoken": token[1]} if token else {}))
    assert "code" in query_of(followed(browser, answer).headers["Location"])
    return browser, browser.get(f"/sign-in?interaction={interaction}")


def abandoned(acme: World, client: RelyingParty) -> tuple[Browser, str]:
    """Somebody who waited too long on the sign-in page."""
    browser = acme.browser()
    interaction = interaction_of(opened(browser, client))
    with acme.active():
        rows = AuthorizationRequest.objects.filter(pk=interaction)
        rows.update(expires_at=timezone.now() - timedelta(minutes=1))
    return browser, interaction


@pytest.mark.parametrize(
    ("described", "leads_to"),
    [
        ({"initiate_login_uri": LOGIN, "client_uri": HOME}, LOGIN),
        ({"client_uri": HOME}, HOME),
    ],
)
def test_who_went_back_after_signing_in_continues_to_the_application(acme, described, leads_to):
    client = acme.application(name="Shop & Co", **described)

    _, page = finished(acme, client)

    assert (page.status_code, title(page)) == (400, EXPIRED)
    href, words = link_on(page)
    assert href.startswith(leads_to)
    assert ("iss=" in href) == (leads_to == LOGIN)
    assert words == "Continue to Shop & Co"
    assert "Go back to the application" not in page.text


def test_without_an_address_of_the_application_they_continue_to_their_account(acme):
    _, page = finished(acme, acme.application())

    assert link_on(page) == (f"/t/{acme.tenant.slug}/account", "Go to your account")


def test_the_button_leads_to_no_third_party_whose_name_may_mislead(acme):
    client = acme.application(name="Your bank", is_third_party=True, client_uri=HOME)
    with acme.active():
        Application.objects.filter(pk=client.application.pk).update(is_third_party=False)
    browser, page = finished(acme, client)
    assert "Continue to Your bank" in page.text
    with acme.active():
        Application.objects.filter(pk=client.application.pk).update(is_third_party=True)

    again = browser.get(str(page.url).removeprefix(acme.address))

    assert "Your bank" not in again.text
    assert link_on(again) == (f"/t/{acme.tenant.slug}/account", "Go to your account")


def test_who_is_not_signed_in_starts_again(acme):
    browser, interaction = abandoned(acme, acme.application(initiate_login_uri=LOGIN))

    page = browser.get(f"/sign-in?interaction={interaction}")

    href, words = link_on(page)
    assert title(page) == EXPIRED
    assert query_of(href) == {"iss": acme.issuer}
    assert words == "Start again"


def test_an_application_without_such_an_address_is_gone_back_to_by_hand(acme):
    browser, interaction = abandoned(acme, acme.application(client_uri=HOME))

    page = browser.get(f"/sign-in?interaction={interaction}")

    assert link_on(page) is None
    assert "Go back to the application" in page.text


def test_another_browser_or_tenant_does_not_learn_the_application(acme, rival):
    _, interaction = abandoned(acme, acme.application(initiate_login_uri=LOGIN))

    for browser in (acme.browser(), rival.browser()):
        page = browser.get(f"/sign-in?interaction={interaction}")
        assert title(page) == EXPIRED
        assert link_on(page) is None
