"""Messages in a tenant's own words."""

from typing import Any

import pytest

from interaction.experience import message_templates
from interaction.verification import texts
from interaction.verification.models import Purpose
from tests.support import codes, management
from tests.support.cast import World
from tests.support.codes import about, message_to, new_email, new_phone

PATH = "/sign-in-experience"


def template(**fields: Any) -> dict[str, Any]:
    whole = {"purpose": "sign_in", "channel": "email", "language": "", "subject": "Hello", "text": "{code}"}
    return whole | fields


def patch(world: World, *templates: Any) -> Any:
    return management.superuser(world).patch(PATH, message_templates=list(templates))


def sent_to(world: World, to: str, **headers: str) -> dict[str, Any]:
    answer = world.browser().post(codes.SEND, json=about(to), headers=headers)
    assert answer.status_code == 200, answer.text
    return message_to(to)


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def test_decision_X7_an_email_in_the_words_of_the_tenant(acme):
    to = new_email()
    acme.user(email=to)
    words = template(subject="For {name}", text="Type {code}, {name} says.", html="<b>{code}</b> {name}")
    assert patch(acme, words).status_code == 200

    message = sent_to(acme, to)

    assert message["subject"] == "For Acme"
    assert message["body"] == f"Type {message['code']}, Acme says."


def test_decision_X7_the_language_of_the_person_goes_before_every_language(acme):
    german, other = new_email(), new_email()
    acme.user(email=german)
    acme.user(email=other)
    patch(acme, template(text="any {code}"), template(language="de", text="deutsch {code}"))

    assert sent_to(acme, german, **{"Accept-Language": "de"})["body"].startswith("deutsch ")
    assert sent_to(acme, other, **{"Accept-Language": "ja"})["body"].startswith("any ")


def test_other_messages_keep_our_words(acme):
    phone = new_phone()
    acme.user(phone=phone)
    patch(
        acme,
        template(text="any {code}"),
        template(purpose="register", channel="sms", subject="", text="r {code}"),
    )

    assert "is your code to sign in to Acme" in sent_to(acme, phone)["body"]


def test_another_tenant_keeps_ours(acme, rival):
    codes.reachable(rival)
    to = new_email()
    rival.user(email=to)
    patch(acme, template(text="any {code}"))

    assert not sent_to(rival, to)["body"].startswith("any ")


def test_names_are_escaped_in_html_and_filled_in_once():
    message = texts.new_code_message(
        pk="1",
        purpose=Purpose.SIGN_IN,
        channel="email",
        to="a@b.example",
        code="012345",
        brand=texts.Brand(name="<i>{code}</i>"),
        template=texts.MessageTemplate(
            subject="{name}", text="{code} {name}", html="{code} {name} p {{color: red}}"
        ),
    )

    assert message.html == "012345 &lt;i&gt;{code}&lt;/i&gt; p {{color: red}}"
    assert message.body == "012345 <i>{code}</i>"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"text": "no code"}, "must contain {code}"),
        ({"text": "{code} {user} {Link} {user}"}, "must not contain {user}, {Link}: use only {code}, {name}"),
        ({"html": "<p>no code</p>"}, "must contain {code}"),
        ({"subject": "{code}"}, "must not contain {code}: use only {name}"),
        ({"subject": ""}, "is required for an email"),
        ({"subject": "a\nb"}, "subject"),
        ({"channel": "sms"}, "an SMS has neither subject nor html"),
        ({"channel": "pigeon"}, "channel"),
        ({"language": "tlh"}, "language"),
        ({"purpose": "spam"}, "purpose"),
        ({"text": "{code}" + "x" * 4096}, "text"),
        ({"text": "{code}\0"}, "NUL"),
        ({"text": None}, "text"),
    ],
)
def test_bad_input_names_the_field_and_changes_nothing(acme, wrong, says):
    before = management.superuser(acme).get(PATH).json()

    answer = patch(acme, template() | wrong)

    assert answer.status_code == 400
    assert says in answer.json()["message"]
    assert management.superuser(acme).get(PATH).json() == before


@pytest.mark.parametrize("name", ["purpose", "channel", "language", "text"])
def test_what_is_missing_is_named(acme, name):
    given = template()
    del given[name]

    answer = patch(acme, given)

    assert answer.status_code == 400
    assert name in answer.json()["message"]


def test_two_for_one_message_are_refused(acme):
    assert patch(acme, template(), template(text="{code} again")).status_code == 400


def test_front_ends_are_not_shown_them(acme):
    patch(acme, template())

    assert "message_templates" not in acme.get("/api/interaction/sign-in-experience").json()["result"]


def test_every_purpose_can_have_one():
    assert set(message_templates.CODES) == set(Purpose.values)
