"""The language of an administrator: what is in it, and what stays in English."""

import re

import pytest
from django.core import mail as django_mail
from django.utils import translation

from audit.models import Entry
from identity.core import tenancy
from management.administrators import emails, invitations, mail, recovery
from tests.support import operators
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.operators import Operator

PAGE = "/admin/preferences/"
# A word of the catalogues that the sidebar and the pages of users share.
WORD = "Organizations"


def choose(operator, language, **typed):
    answer = operator.submit(PAGE, language=language, time_zone="", **typed)
    assert answer.status_code == 303, answer.text
    return operator.get(answer.headers["Location"])


def language_of(answer):
    found = re.search(r'<html lang="([^"]+)" dir="(ltr|rtl)"', answer.text)
    assert found
    return found.groups()


def say(language, message=WORD):
    with translation.override(language):
        return translation.gettext(message)


class TestChoice:
    def test_has_each_language_under_its_own_name(self, operator):
        page = operator.get(PAGE).text

        assert '<option value="" selected>Language of the browser</option>' in page
        for option in ("de", "Deutsch"), ("ar", "العربية"), ("zh-hans", "简体中文"):
            assert '<option value="{}">{}</option>'.format(*option) in page

    @pytest.mark.parametrize(
        ("language", "tag", "direction"),
        [("de", "de", "ltr"), ("ar", "ar", "rtl"), ("pt-br", "pt-BR", "ltr"), ("zh-hans", "zh-Hans", "ltr")],
    )
    def test_changes_the_pages_at_once(self, acme, operator, language, tag, direction):
        before = operator.get("/admin/").text
        after = choose(operator, language)

        assert say(language) not in before
        assert say(language) in after.text
        assert language_of(after) == (tag, direction)
        assert after.headers["Content-Language"] == language
        assert {"Accept-Language", "Cookie"} <= {name.strip() for name in after.headers["Vary"].split(",")}

    def test_comes_before_that_of_the_browser_and_before_the_cookie_of_users(self, acme, operator):
        choose(operator, "de")
        operator.http.cookies.set("gatehouse-language", "ja")

        page = operator.get("/admin/users/user/", headers={"Accept-Language": "es"})

        assert language_of(page) == ("de", "ltr")

    def test_without_one_is_that_of_the_browser(self, acme, operator):
        operator.http.cookies.set("gatehouse-language", "ja")

        page = operator.get("/admin/users/user/", headers={"Accept-Language": "tlh, fr-CA;q=0.8, de;q=0.5"})

        assert language_of(page) == ("fr", "ltr")
        assert language_of(operator.get("/admin/users/user/")) == ("en", "ltr")

    def test_is_for_oneself_and_is_logged(self, acme, operator):
        other = operators.at(acme)
        choose(operator, "ko")

        other.who.refresh_from_db()
        (entry,) = Entry.objects.filter(key="Administrator.Update", payload__id=operator.who.pk)
        assert entry.payload["fields"] == ["language"]
        assert other.who.language == ""

    @pytest.mark.parametrize("language", ["xx", "de-AT", "../en", "x" * 99])
    def test_refuses_what_is_no_language_of_the_site(self, operator, language):
        assert operator.submit(PAGE, language=language, time_zone="").status_code == 400

    def test_of_a_newer_release_is_that_of_the_browser(self, acme, operator):
        type(operator.who).objects.filter(pk=operator.who.pk).update(language="it")

        page = operator.get("/admin/", headers={"Accept-Language": "de"})

        assert language_of(page) == ("de", "ltr")

    def test_stays_if_a_form_of_the_last_release_changes_the_time_zone(self, operator):
        choose(operator, "de")
        sent = {"time_zone": "Asia/Tokyo", "drawn_for": operator.tenant}
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', operator.get(PAGE).text)

        assert token
        operator.http.post("/admin/time-zone/", data=sent | {"csrfmiddlewaretoken": token[1]})

        operator.who.refresh_from_db()
        assert (operator.who.language, operator.who.time_zone) == ("de", "Asia/Tokyo")


class TestPagesBeforeTheSignIn:
    @pytest.mark.parametrize("name", ["login/", "invitation/nothing/", "nothing/"])
    def test_are_in_the_language_of_the_browser(self, address, name):
        visitor = Operator(operators.administrator())

        page = visitor.get(f"/admin/{name}", headers={"Accept-Language": "ar"}, follow_redirects=True)

        assert language_of(page) == ("ar", "rtl")
        assert page.headers["Content-Language"] == "ar"


class TestMails:
    @pytest.fixture
    def outbox(self, settings, monkeypatch):
        """The mails that are sent, whose subjects name their language."""
        settings.EMAIL_HOST, settings.ADMIN_MAIL_FROM = "mail.example.com", "gatehouse@example.com"
        settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
        monkeypatch.setattr(mail, "get_site_name", lambda: f"<{translation.get_language()}>")
        django_mail.outbox = []
        return django_mail.outbox

    def languages(self, outbox):
        mail.EXECUTOR.submit(lambda: None).result()
        return [found[1] for message in outbox if (found := re.search(r"<(.+)>", message.subject))]

    @pytest.mark.parametrize(("chosen", "spoken"), [("de", "de"), ("", "fr")])
    def test_are_in_the_language_of_the_inviter_else_of_the_browser(self, address, outbox, chosen, spoken):
        inviter = operators.administrator()
        inviter.language = chosen

        with tenancy.using(tenancy.DEFAULT), translation.override("fr"):
            invitations.invite(email=f"new-{chosen}@x.example", by=inviter, current_password=PASSWORD)

        assert self.languages(outbox) == [spoken]

    @pytest.mark.parametrize(("chosen", "spoken"), [("de", "de"), ("", "fr")])
    def test_are_in_the_language_of_whose_password_was_forgotten(self, address, outbox, chosen, spoken):
        email = f"lost-{chosen}@x.example"
        who = operators.administrator(email=email)
        type(who).objects.filter(pk=who.pk).update(proven_email=email, language=chosen)

        with translation.override("fr"):
            recovery.send_links(email)

        assert self.languages(outbox) == [spoken]

    def test_are_in_the_language_of_whose_address_it_is(self, address, outbox):
        who = operators.administrator()
        who.language = "ja"

        emails.send_link(who, "own@x.example")

        assert self.languages(outbox) == ["ja"]


class TestWhatStaysInEnglish:
    @pytest.fixture
    def german(self, acme, operator):
        choose(operator, "de")
        return operator

    def test_the_api_is_the_same_whatever_a_browser_accepts(self, acme, admin):
        missing, wrong = "/users/01900000-0000-7000-8000-000000000000", {"username": "", "email": "x"}

        def ask(headers):
            answers = [
                admin.get(missing, headers=headers),
                admin.post("/users", json=wrong, headers=headers),
                admin.get("/connector-factories", headers=headers),
                acme.get("/api/openapi.json", headers=headers),
            ]
            return [(one.status_code, one.text, one.headers.get("Content-Language")) for one in answers]

        assert ask({"Accept-Language": "de"}) == ask({})

    def test_an_audit_entry_of_the_site_is_the_same_in_every_language(self, acme, german):
        in_english = operators.at(acme)
        for operator in (german, in_english):
            operate(operator, "users/user", acme.user(), "suspend")
            assert operate(operator, "users/user", None, "create", username="a b").status_code == 400

        entries = Entry.objects.filter(tenant_id=acme.tenant.pk, key__startswith="User.").order_by("pk")
        changing = {"id", "user_id", "administrator_id"}
        facts = {
            who.pk: [
                (entry.key, {name: value for name, value in entry.payload.items() if name not in changing})
                for entry in entries
                if entry.payload.get("administrator_id") == who.pk
            ]
            for who in (german.who, in_english.who)
        }
        assert facts[german.who.pk] == facts[in_english.who.pk] != []

    def test_an_export_is_the_same_in_every_language(self, acme, german):
        acme.user("ada")
        export = "/admin/audit/entry/export/?when=all"

        assert german.get(export).text == operators.at(acme).get(export).text
