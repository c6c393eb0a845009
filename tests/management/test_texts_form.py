"""The texts of pages on the operators' site: a form for each language, with a preview."""

import html

from django.urls import reverse

from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from tests.support.admin_operations import read_text, submit_operation


def at(acme):
    with acme.active():
        return experiences.current()


def test_are_written_changed_and_removed_by_language(acme, operator):
    chosen = submit_operation(operator, SignInExperience, "texts", at(acme), language="de")
    name = chosen.headers["Location"].split("/")[-2]

    submit_operation(operator, SignInExperience, "texts-any", at(acme), sign_in_button="Enter")
    submit_operation(operator, SignInExperience, name, at(acme), sign_in_button="Hinein", help_line="Fragen?")

    assert name == "texts-de"
    assert at(acme).page_texts == [
        {"key": "sign_in_button", "language": "", "text": "Enter"},
        {"key": "sign_in_button", "language": "de", "text": "Hinein"},
        {"key": "help_line", "language": "de", "text": "Fragen?"},
    ]
    submit_operation(operator, SignInExperience, name, at(acme), sign_in_button="", help_line="")
    assert at(acme).page_texts == [{"key": "sign_in_button", "language": "", "text": "Enter"}]


def test_the_refusal_stands_at_the_field(acme, operator):
    refused = submit_operation(
        operator, SignInExperience, "texts-any", at(acme), sign_in_heading="Welcome, {name}"
    )

    assert refused.status_code == 400
    problem = "must not contain {name} as sign_in_heading: use only {application}, {tenant}"
    assert problem in read_text(refused)
    assert at(acme).page_texts == []


def test_the_form_shows_the_built_in_texts_of_its_language(acme, operator):
    path = reverse("admin:experience_signinexperience_operate", args=[at(acme).pk, "texts-de"])

    page = html.unescape(operator.get(path).text)

    assert "Anmelden bei {application}" in page
    assert "Ihr Konto bei {tenant} erstellen" in page
    assert "{application} is required" in page


def test_the_preview_shows_the_unsaved_texts_in_their_language(acme, operator):
    submit_operation(operator, SignInExperience, "texts-any", at(acme), help_line="Ask us")
    path = reverse("admin:experience_signinexperience_operate", args=[at(acme).pk, "texts-de"])
    typed = {"sign_in_heading": "Hallo {application}", "register_button": "Los"}

    pages = [
        operator.submit(f"{path}preview/{name}/", page=path, **typed) for name in ("sign-in", "registration")
    ]

    assert "Hallo <bdi>" in pages[0].text
    assert "<bdi>Los</bdi>" in pages[1].text
    assert 'lang="de"' in pages[0].text
    assert all("Ask us" in page.text for page in pages)
    assert operator.get(f"{path.replace('-de', '-any')}preview/sign-in/").status_code == 200
    assert len(at(acme).page_texts) == 1


def test_the_overview_names_the_languages(acme, operator):
    submit_operation(operator, SignInExperience, "texts-de", at(acme), sign_in_button="Hinein")

    page = operator.get(reverse("admin:experience_signinexperience_change", args=[at(acme).pk]))

    assert "Deutsch" in read_text(page)
