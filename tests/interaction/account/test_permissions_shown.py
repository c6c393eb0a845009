"""What the account page says that an application may do at an API in an organization."""

import re
from html import unescape

import httpx
import pytest

from tests.support.cast import Browser, RelyingParty, World
from tests.support.third_parties import Estate, connect, consent_page

LONG = "Delete orders of all customers, also those that were paid, " * 8


@pytest.fixture
def estate(acme: World) -> Estate:
    return Estate(acme)


@pytest.fixture
def client(acme: World) -> RelyingParty:
    return acme.application(name="Calendar", is_third_party=True)


def said_after(name: str, page: httpx.Response) -> list[str]:
    """The texts of a page after the name of an organization, as far as its last permission."""
    part = page.text.partition(f">{name}</bdi>")[2].partition("<button")[0].partition("<form")[0]
    texts = re.sub(r"</?(?:bdi|strong)[^>]*>", "", part)
    return [text for text in map(str.strip, unescape(re.sub(r"<[^>]+>", "\n", texts)).split("\n")) if text]


def shown(browser: Browser) -> list[str]:
    return said_after("Chess Club", browser.get("/account/applications"))


@pytest.mark.parametrize("text", ["Delete orders", LONG.strip(), "Löschen & <b>mehr</b>"])
def test_they_are_described_as_on_the_consent_page(estate, client, text):
    orders = estate.api("Orders", {"delete": text, "read": "Read orders"})
    club = estate.organization("Chess Club", {"manage": "Manage the members"})
    asked = {"scope": "openid delete read", "resource": orders, "organization_id": club}
    browser = estate.browser()

    page = consent_page(browser, client, **asked)
    connect(browser, client, **asked)

    said = ["Use Orders on your behalf", text, "Read orders"]
    assert said_after("Chess Club", page)[:3] == said
    assert shown(browser) == ["Organization", *said]


def test_a_permission_without_a_description_has_its_name(estate, client):
    orders = estate.api("Orders", {"delete": "", "read": "Read orders"})
    club = estate.organization("Chess Club", {})
    browser = estate.browser()

    connect(browser, client, scope="openid delete read", resource=orders, organization_id=club)

    assert shown(browser) == ["Organization", "Use Orders on your behalf", "delete", "Read orders"]


def test_an_api_without_permissions_says_so(estate, client):
    orders = estate.api("Orders", {"read": "Read orders"}, user=estate.world.user())
    club = estate.organization("Chess Club", {})
    browser = estate.browser()

    connect(browser, client, scope="openid", resource=orders, organization_id=club)

    assert shown(browser) == [
        "Organization",
        "Use Orders on your behalf",
        "It can identify you there, and has no other permission.",
    ]
