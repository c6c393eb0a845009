"""What programs look for at fixed addresses, and what a developer is told of a wrong redirect URI."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from django.conf import settings as installed
from django.test import Client

from tests.support.pages import title

PATHS = ["/.well-known/change-password", "/.well-known/security.txt", "/robots.txt", "/favicon.ico"]


class TestFixedAddresses:
    def test_password_managers_find_the_page_for_a_new_password(self, acme, address):
        here = acme.get("/.well-known/change-password")
        root = httpx.get(f"{address}/.well-known/change-password")

        assert (here.status_code, root.status_code) == (303, 303)
        assert here.headers["Location"] == f"/t/{acme.tenant.slug}/account/password"
        assert root.headers["Location"] == "/account/password"

    @pytest.mark.parametrize("contact", ["mailto:security@acme.example", "https://acme.example/security"])
    def test_researchers_find_whom_to_tell(self, acme, settings, contact):
        settings.SECURITY_CONTACT = contact

        answer = Client().get(f"/t/{acme.tenant.slug}/.well-known/security.txt")

        fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert fields["Contact"] == contact
        assert fields["Canonical"] == f"{installed.BASE_URL}/.well-known/security.txt"
        expires = datetime.fromisoformat(fields["Expires"])
        assert datetime.now(UTC) < expires < datetime.now(UTC) + timedelta(days=365)

    def test_without_a_contact_there_is_no_such_file(self, acme):
        assert acme.get("/.well-known/security.txt").status_code == 404

    def test_crawlers_find_that_no_page_is_for_them(self, acme):
        answer = acme.get("/robots.txt")

        assert answer.text == "User-agent: *\nDisallow: /\n"
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"

    def test_browsers_find_the_icon(self, acme):
        answer = acme.get("/favicon.ico")
        icon = httpx.get(f"{installed.BASE_URL}{answer.headers['Location']}")

        assert answer.status_code == 303
        assert icon.headers["Content-Type"] == "image/svg+xml"

    @pytest.mark.parametrize("path", PATHS)
    def test_they_take_no_other_method(self, acme, path):
        assert acme.post(path).status_code in {403, 405}


class TestWrongRedirectUri:
    WRONG = "http://localhost:6060/callback?a=1&b='x'"

    def test_a_developer_sees_both_and_the_way_to_the_console(self, acme, loopback_server):
        acme = acme.at(loopback_server)
        client = acme.application(redirect_uris=["https://rp.example/callback", "https://rp.example/other"])

        page = acme.browser().authorize(client, redirect_uri=self.WRONG)

        assert page.status_code == 400
        assert title(page) == "This link does not work"
        assert "<code>http://localhost:6060/callback?a=1&amp;b=&#x27;x&#x27;</code>" in page.text
        assert "<code>https://rp.example/callback</code>" in page.text
        assert "<code>https://rp.example/other</code>" in page.text
        assert f'/admin/applications/application/{client.application.pk}/change/"' in page.text
        assert f"/t/{acme.tenant.slug}/admin/" not in page.text

    def test_production_says_nothing_of_what_is_registered(self, acme):
        client = acme.application(redirect_uris=["https://rp.example/callback"])

        page = acme.browser().authorize(client, redirect_uri=self.WRONG)

        assert page.status_code == 400
        for secret in (
            "localhost:6060",
            "rp.example",
            "/admin/",
            str(client.application.pk),
            "For developers",
        ):
            assert secret not in page.text

    def test_an_unknown_client_is_told_nothing_even_in_development(self, acme, loopback_server):
        page = acme.at(loopback_server).get(
            "/oidc/authorize", params={"client_id": "unknown", "redirect_uri": self.WRONG}
        )

        assert page.status_code == 400
        assert "For developers" not in page.text
