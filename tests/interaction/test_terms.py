"""The checkbox with which new users agree to the terms: decision X19."""

import re
import secrets

import pytest

from audit.models import Entry
from identity.users.models import User
from interaction.experience.models import SignInExperience
from tests.support import codes, management
from tests.support.cast import World
from tests.support.codes import REGISTER, message_to, new_email
from tests.support.forms import form, forms
from tests.support.management import result_of
from tests.support.terms import MUST, PRIVACY, TERMS, ask

PASSWORD = "a good password 1"


def filled(**fields: object) -> dict[str, object]:
    return {"username": f"u-{secrets.token_hex(4)}", "password": PASSWORD} | fields


def users(world: World) -> int:
    with world.active():
        return User.objects.count()


def entry(world: World, key: str = "Register.Username") -> Entry:
    return Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("-pk")[0]


class TestPage:
    def test_decision_X19_the_box_must_be_ticked(self, acme):
        ask(acme)
        browser = acme.browser()
        page = form(browser.get("/register"))

        without = page.submit(browser, **filled(), agreed_to_terms=None)

        assert (page.types["agreed_to_terms"], without.status_code, users(acme)) == ("checkbox", 400, 0)
        assert MUST in without.text
        assert re.search(r'name="agreed_to_terms"[^>]* aria-invalid="true" aria-describedby="', without.text)
        answer = form(without).submit(browser, **filled(), agreed_to_terms="on")
        assert (answer.status_code, users(acme)) == (303, 1)
        assert entry(acme).payload["agreed_to_terms"] == [TERMS, PRIVACY]

    @pytest.mark.parametrize(("terms", "privacy"), [(TERMS, PRIVACY), (TERMS, ""), ("", PRIVACY)])
    def test_its_label_links_to_the_documents_that_there_are(self, acme, terms, privacy):
        ask(acme, terms, privacy)

        page = acme.get("/register").text

        label = re.search(
            r'<input id="(\S+)" name="agreed_to_terms"[^>]*>\s*<label for="\1">(.*?)</label>', page
        )
        assert label is not None
        assert re.findall(r'href="([^"]+)"', label[2]) == [url for url in (terms, privacy) if url]
        assert "By creating an account" not in page

    def test_another_error_keeps_the_tick(self, acme):
        ask(acme)
        browser = acme.browser()

        page = form(browser.get("/register")).submit(
            browser, **filled(password="short"), agreed_to_terms="on"
        )

        assert page.status_code == 400
        assert re.search(r'name="agreed_to_terms"[^>]* checked', page.text)

    def test_a_registration_by_code_asks_too(self, acme):
        ask(codes.reachable(acme), identifiers=["email"], password=False, verify=True)
        browser, mail = acme.browser(), new_email()
        sent = form(browser.get("/register")).submit(browser, identifier=mail)
        proven = forms(sent)[0].submit(browser, code=message_to(mail)["code"])
        page = form(browser.get(proven.headers["Location"]))

        without = page.submit(browser, agreed_to_terms=None)
        answer = page.submit(browser, agreed_to_terms="on")

        assert (without.status_code, answer.status_code, users(acme)) == (400, 303, 1)
        assert entry(acme, "Register.Email").payload["agreed_to_terms"] == [TERMS, PRIVACY]

    def test_without_the_setting_there_is_a_sentence(self, acme):
        ask(acme, agree_to_terms="automatic")
        browser = acme.browser()
        page = browser.get("/register")

        answer = form(page).submit(browser, **filled())

        assert "agreed_to_terms" not in page.text
        assert "By creating an account, you agree to the" in page.text
        assert answer.status_code == 303
        assert "agreed_to_terms" not in entry(acme).payload


class TestInteractionAPI:
    def test_decision_X19_says_so_and_demands_the_member(self, acme):
        ask(acme)
        shown = acme.get("/api/interaction/sign-in-experience").json()["result"]

        for wrong in ({}, {"agreed_to_terms": False}, {"agreed_to_terms": "yes"}, {"agreed_to_terms": 1}):
            message = management.refusal_of(acme.post(REGISTER, json=filled(**wrong)), 400)
            assert message.startswith("agreed_to_terms: must be true"), wrong

        assert shown["sign_up"]["agree_to_terms"] == "manual"
        assert users(acme) == 0
        assert acme.post(REGISTER, json=filled(agreed_to_terms=True)).status_code == 200
        assert entry(acme).payload["agreed_to_terms"] == [TERMS, PRIVACY]

    def test_nothing_changes_for_other_tenants(self, acme, rival):
        ask(acme)

        answer = rival.post(REGISTER, json=filled())

        shown = rival.get("/api/interaction/sign-in-experience").json()["result"]
        assert answer.status_code == 200
        assert shown["sign_up"]["agree_to_terms"] == "automatic"
        assert "agreed_to_terms" not in entry(rival).payload

    def test_a_row_of_release_0_2_0_has_the_sentence(self, acme):
        with acme.active():
            old = {"identifiers": ["username"], "password": True, "verify": False}
            SignInExperience.objects.update(sign_up=old)

        shown = result_of(management.superuser(acme).get("/sign-in-experience"))

        assert shown["sign_up"] == old | {"agree_to_terms": "automatic"}
        assert acme.post(REGISTER, json=filled()).status_code == 200
