"""What users see of an application: its logo, its links, and where they open it."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from oidc.applications import services as applications
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.pages import followed, opened

METADATA = {
    "client_uri": "https://rp.example/about",
    "logo_uri": "https://cdn.rp.example/logo.png",
    "policy_uri": "https://rp.example/privacy",
    "tos_uri": "https://xn--bcher-kva.example/terms",
    "contacts": ["help@rp.example"],
    "initiate_login_uri": "https://rp.example/login?tab=1",
}


def described(world, *, is_third_party: bool):
    client = world.application(name="<Photo> Prints", is_third_party=is_third_party)
    with world.active():
        applications.change(client.application, METADATA, is_proven=True)
    return client


def links(page: str) -> dict[str, str]:
    """Return the links that leave our site, by their address."""
    return dict(re.findall(r'<a (?:class="button" )?href="(https://[^"]+)"([^>]*)>', page))


class TestConsent:
    def test_decision_P15_shows_the_logo_and_the_links_of_the_tenants_own(self, acme):
        browser, _ = signed_in(acme)

        page = opened(browser, described(acme, is_third_party=False), prompt="consent")

        assert 'src="https://cdn.rp.example/logo.png" alt=""' in page.text
        assert 'referrerpolicy="no-referrer"' in page.text
        assert set(links(page.text)) == {METADATA[name] for name in ("client_uri", "policy_uri", "tos_uri")}
        assert "(<bdi>" not in page.text

    def test_decision_P15_never_loads_a_third_partys_logo(self, acme):
        browser, _ = signed_in(acme)

        page = opened(browser, described(acme, is_third_party=True))

        assert "cdn.rp.example" not in page.text
        assert "<img" not in page.text
        assert '<span class="avatar" aria-hidden="true">&lt;</span>' in page.text
        for host in ("rp.example", "xn--bcher-kva.example"):
            assert f"(<bdi>{host}</bdi>)" in page.text
        assert "<Photo>" not in page.text

    def test_decision_P15_every_link_keeps_where_it_was_followed(self, acme):
        browser, _ = signed_in(acme)

        page = opened(browser, described(acme, is_third_party=True))

        assert all('rel="noopener noreferrer"' in rest for rest in links(page.text).values())

    def test_a_host_that_all_links_have_is_named_once(self, acme):
        browser, _ = signed_in(acme)
        client = acme.application(is_third_party=True)
        uris = {name: f"https://partner.example/{name}" for name in ("policy_uri", "tos_uri")}
        with acme.active():
            applications.change(client.application, uris, is_proven=True)

        page = opened(browser, client)

        assert set(links(page.text)) == set(uris.values())
        assert page.text.count("partner.example</bdi>") == 1

    @pytest.mark.parametrize("is_third_party", [False, True])
    def test_an_application_that_says_nothing_is_shown_as_before(self, acme, is_third_party):
        browser, _ = signed_in(acme)

        page = opened(browser, acme.application(is_third_party=is_third_party), prompt="consent")

        assert page.text.count('class="avatar"') == 1  # the user's
        assert not links(page.text)


class TestMyApplications:
    @pytest.mark.parametrize("is_third_party", [False, True])
    def test_decision_P15_P56_shows_links_contacts_and_where_to_open_it(self, acme, is_third_party):
        client = described(acme, is_third_party=is_third_party)
        browser, user = signed_in(acme)
        if is_third_party:
            followed(browser, form(opened(browser, client)).submit(browser, choice="allow"))
        else:
            client.tokens_for(user, browser)

        page = browser.get("/account/applications").text

        found = links(page)
        start = next(href for href in found if href.startswith("https://rp.example/login"))
        assert parse_qs(urlsplit(start).query.replace("&amp;", "&")) == {"tab": ["1"], "iss": [acme.issuer]}
        assert "login_hint" not in page
        assert all('rel="noopener noreferrer"' in rest for rest in found.values())
        assert 'href="mailto:help@rp.example"' in page
        assert ("cdn.rp.example" in page) != is_third_party
        assert ("(<bdi>rp.example</bdi>)" in page) == is_third_party
        assert ('<bdi class="small">rp.example</bdi>' in page) == is_third_party

    def test_decision_P56_without_an_address_there_is_no_button(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        client.tokens_for(user, browser)

        page = browser.get("/account/applications").text

        assert ">Open" not in page
        assert not links(page)
