"""``sign_up.agree_to_terms``: refused without a document to which users could agree (decision X19)."""

import html

import pytest

from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from tests.support.admin_operations import submit_operation
from tests.support.management import refusal_of, result_of

TERMS, PRIVACY = "https://acme.example/terms", "https://acme.example/privacy"
PATH = "/sign-in-experience"


def manual(admin, **fields):
    return admin.patch(PATH, sign_up={"agree_to_terms": "manual"}, **fields)


class TestAPI:
    def test_decision_X19_manual_requires_a_document(self, admin):
        answer = manual(admin)

        refusal_of(answer, 400)
        assert answer.json()["errors"][0]["field"] == "sign_up.agree_to_terms"
        assert result_of(admin.get(PATH))["sign_up"]["agree_to_terms"] == "automatic"

    @pytest.mark.parametrize("document", [{"terms_of_use_url": TERMS}, {"privacy_policy_url": PRIVACY}])
    def test_one_document_is_enough_and_cannot_be_removed(self, admin, document):
        shown = result_of(manual(admin, **document))

        answer = admin.patch(PATH, **dict.fromkeys(document, ""))

        assert shown["sign_up"]["agree_to_terms"] == "manual"
        assert shown["sign_up"]["identifiers"] == ["username"]
        refusal_of(answer, 400)
        assert answer.json()["errors"][0]["field"] == next(iter(document))
        both = {"sign_up": {"agree_to_terms": "automatic"}, **dict.fromkeys(document, "")}
        assert result_of(admin.patch(PATH, **both))["sign_up"]["agree_to_terms"] == "automatic"

    @pytest.mark.parametrize("wrong", ["sentence", "", None, True, 1, ["manual"], {"manual": 1}])
    def test_other_values_are_refused(self, admin, wrong):
        answer = admin.patch(PATH, sign_up={"agree_to_terms": wrong})

        refusal_of(answer, 400)
        assert answer.json()["errors"][0]["field"].startswith("sign_up.agree_to_terms")

    def test_a_change_of_something_else_keeps_it(self, admin):
        result_of(manual(admin, terms_of_use_url=TERMS))

        shown = result_of(admin.patch(PATH, sign_up={"password": True, "identifiers": ["username", "email"]}))

        assert shown["sign_up"]["agree_to_terms"] == "manual"


class TestConsole:
    def at(self, acme):
        with acme.active():
            return experiences.current()

    def test_a_box_switches_it_on_and_off(self, acme, operator, admin):
        result_of(admin.patch(PATH, terms_of_use_url=TERMS))

        submit_operation(operator, SignInExperience, "registration", self.at(acme), agree_to_terms="on")
        assert self.at(acme).sign_up["agree_to_terms"] == "manual"
        submit_operation(operator, SignInExperience, "registration", self.at(acme), agree_to_terms=None)
        assert self.at(acme).sign_up["agree_to_terms"] == "automatic"

    def test_the_refusal_stands_at_the_field(self, acme, operator, admin):
        refused = submit_operation(
            operator, SignInExperience, "registration", self.at(acme), agree_to_terms="on"
        )
        result_of(manual(admin, terms_of_use_url=TERMS))
        removed = submit_operation(operator, SignInExperience, "look", self.at(acme), terms_of_use_url="")

        assert (refused.status_code, removed.status_code) == (400, 400)
        assert "can be manual only with a terms_of_use_url" in html.unescape(refused.text)
        assert "cannot be removed: users must agree to it" in html.unescape(removed.text)
