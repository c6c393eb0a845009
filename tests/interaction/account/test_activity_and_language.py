"""The account page's recent activity, language, organizations and sign-in methods."""

import re
from datetime import timedelta

import httpx
import pytest

from audit import log
from audit.events import Event
from identity.organizations.models import Membership, Organization
from identity.users.models import User
from tests.support import codes
from tests.support.account import age_sign_in, send, stored
from tests.support.cast import PASSWORD, signed_in
from tests.support.forms import form
from tests.support.pages import title
from tests.support.social import connect

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


class TestActivity:
    def test_lists_the_latest_sign_ins_of_this_user_alone(self, acme, rival):
        browser, user = signed_in(acme)
        signed_in(acme)
        signed_in(rival)
        there = acme.browser()
        there.http.headers["User-Agent"] = FIREFOX
        there.sign_in(user)
        there.sign_in(user, password="wrong")

        page = browser.get("/account/activity")

        assert title(page) == "Recent activity"
        assert page.text.count("With your password") == 2
        assert page.text.index("Firefox on Linux") < page.text.rindex("With your password")
        assert "127.0.0.1" in page.text
        assert re.search(
            r'<time datetime="[^"]+" data-local="time">\d+ \w{3} \d{4}, \d\d:\d\d UTC</time>', page.text
        )

    def test_ten_are_enough(self, acme):
        browser, user = signed_in(acme)
        for _ in range(11):
            browser.sign_in(user)

        assert browser.get("/account/activity").text.count("With your password") == 10

    def test_a_code_is_named(self, acme):
        codes.reachable(acme)
        address, browser = codes.new_email(), acme.browser()
        acme.user(email=address)
        codes.enter(browser, address, codes.sent(browser, address))

        assert "With a code" in browser.get("/account/activity").text

    def test_a_registration_is_listed(self, acme):
        browser = acme.browser()
        browser.post(codes.REGISTER, json={"username": "ada", "password": PASSWORD})

        page = browser.get("/account/activity").text

        assert "Last sign-in" in browser.get("/account").text
        assert page.count("<bdi>Registration</bdi>") == 1
        assert "No sign-ins yet." not in page

    def test_a_provider_without_a_name_is_another_provider(self, acme):
        browser, user = signed_in(acme)
        with acme.active():
            log.record(Event.SIGN_IN_SOCIAL, user_id=user.pk, result="success")

        assert "<bdi>Other provider</bdi>" in browser.get("/account/activity").text

    def test_a_passkey_is_named(self, acme):
        browser, user = signed_in(acme)
        with acme.active():
            log.record(Event.SIGN_IN_PASSKEY, user_id=user.pk, result="success")

        assert "<bdi>With a passkey</bdi>" in browser.get("/account/activity").text


class TestLanguage:
    def test_is_kept_in_the_browser_and_for_the_next_one(self, acme):
        browser, user = signed_in(acme)

        answer = send(browser, "language", language="de")
        page = browser.get(answer.headers["Location"])
        other = acme.browser()
        signing_in = form(other.get("/sign-in"))
        signing_in.submit(other, identifier=user.username, password=PASSWORD)

        assert answer.status_code == 303
        assert '<html lang="de"' in page.text
        assert '<html lang="de"' in browser.get("/sign-in").text
        assert stored(acme, user).profile["locale"] == "de"
        assert '<html lang="de"' in other.get("/account").text

    @pytest.mark.parametrize("language", ["", "xx", "../de", "a\0b"])
    def test_one_that_is_not_offered_changes_nothing(self, acme, language):
        browser, user = signed_in(acme)

        answer = send(browser, "language", language=language)

        assert answer.status_code == 200
        assert '<html lang="en"' in browser.get("/account").text
        assert "locale" not in stored(acme, user).profile

    def test_a_variant_of_the_language_stays_in_the_profile(self, acme):
        browser, user = signed_in(acme, profile={"locale": "de-AT", "nickname": "A"})

        send(browser, "language", language="de")

        assert stored(acme, user).profile == {"locale": "de-AT", "nickname": "A"}


class TestOverview:
    def test_names_the_user_s_organizations(self, acme, rival):
        browser, user = signed_in(acme)
        assert "Organizations" not in browser.get("/account").text
        with acme.active():
            home = Organization.objects.create(name="Home <b>")
            other = Organization.objects.create(name="Strangers")
            Membership.objects.create(organization=other, user=acme.user())
            Membership.objects.create(organization=home, user=User.objects.get(pk=user.pk))

        page = browser.get("/account")

        assert "Home &lt;b&gt;" in page.text
        assert "Strangers" not in page.text

    def test_an_unconfirmed_address_leads_to_its_confirmation(self, acme):
        codes.reachable(acme)
        browser, _ = signed_in(acme, email=codes.new_email())

        page = browser.get("/account")

        row = re.search(r'<a href="[^"]+/account/email">.*?</a>', page.text, re.DOTALL)
        assert row
        assert '<span class="row-verb">Confirm</span>' in row[0]

    @pytest.mark.parametrize(("minutes", "is_asked"), [(4, False), (6, True)])
    def test_a_sign_in_is_asked_for_only_when_it_is_too_old(self, acme, minutes, is_asked):
        connect(acme, {"client_id": "x", "client_secret": "y"}, "github")
        browser, _ = signed_in(acme)
        age_sign_in(acme, timedelta(minutes=minutes))

        page: httpx.Response = browser.get("/account/linked")

        assert ("sign in again." in page.text) is is_asked
        assert ('name="link"' in page.text) is not is_asked
