"""Notices: what people are told when something about their account changes."""

import html
import re
from typing import Any

import pytest
from django.conf import settings
from django.utils import translation

from identity.users import notices
from identity.users.models import User
from identity.users.notices import Notice
from interaction.verification import notice_texts, outgoing, texts
from interaction.verification.models import OutgoingMessage, Purpose
from interaction.verification.texts import Brand
from tests.support import codes, management
from tests.support.cast import PASSWORD, World
from tests.support.codes import message_to, messages_to, new_email, new_phone
from tests.support.outgoing_messages import wait_until_sent

NEW = "c0rrect horse battery"


def tell(world: World, user: User, notice: Notice, **words: str) -> None:
    with world.active():
        notices.notify(user, notice, to=None, **words)
    outgoing.send_due()  # only a server is woken by what it writes itself


def notices_to(address: str) -> list[dict[str, Any]]:
    return [one for one in messages_to(address) if one["interaction_type"].startswith("notice_")]


@pytest.mark.parametrize("notice", list(Notice))
@pytest.mark.parametrize("channel", ["email", "sms"])
def test_every_kind_has_words(notice, channel):
    message = notice_texts.new_notice_message(
        notice=notice,
        channel=channel,
        to="a@b.example",
        words={"provider": "Git\nHub"},
        brand=Brand(name="Acme"),
    )

    assert message.interaction_type == notice
    assert message.code == ""
    assert "Acme" in message.body
    assert "%(" not in message.body + message.subject + message.html
    assert message.subject[:1].isupper() or channel == "sms"
    assert "GitHub" in message.body or "{provider}" not in message.body


@pytest.mark.parametrize("language", [code for code, _ in settings.LANGUAGES])
@pytest.mark.parametrize("channel", ["email", "sms"])
@pytest.mark.parametrize("brand", [Brand(name="Acme Inc."), Brand(name="例。")])
def test_a_name_with_a_full_stop_has_no_second_one(language, channel, brand):
    with translation.override(language):
        messages = [
            notice_texts.new_notice_message(
                notice=notice, channel=channel, to="x", words={"provider": "Git"}, brand=brand
            )
            for notice in Notice
        ] + [
            texts.new_code_message(pk="1", purpose=kind, channel=channel, to="x", code="123456", brand=brand)
            for kind in Purpose
        ]

    for message in messages:
        for text in (message.subject, message.body, message.html):
            assert not re.search(r"[.。]\s?[.。]", text), text
        assert channel == "sms" or not message.body.startswith(message.subject)
        assert channel == "sms" or message.html.count(html.escape(message.subject)) <= 2


@pytest.mark.parametrize(("language", "shown"), [("en", "1 Jan 2030"), ("ar", "\u20681 Jan 2030\u2069")])
def test_a_time_keeps_its_order_between_arabic_words(language, shown):
    with translation.override(language):
        message = notice_texts.new_notice_message(
            notice=Notice.NEW_SIGN_IN,
            channel="email",
            to="a@b.example",
            words={"time": "1 Jan 2030"},
            brand=Brand(name="Acme"),
        )

    assert f": {shown}\n" in message.body
    assert f": {shown}" in message.html


def test_decision_N8_who_changes_their_password_is_told(reachable):
    mail = new_email()
    user, browser = reachable.user(email=mail), reachable.browser()
    browser.sign_in(user)

    browser.get("/account/password")
    answer = browser.post(
        "/account/password",
        data={
            "csrfmiddlewaretoken": browser.http.cookies["gatehouse-csrf"],
            "password": PASSWORD,
            "new_password": NEW,
        },
    )

    assert answer.status_code == 303
    notice = message_to(mail)
    assert notice["interaction_type"] == "notice_password_changed"
    assert notice["subject"] == "Your password at Acme was changed"
    assert NEW not in notice["body"]


def test_decision_N8_a_password_that_an_administrator_sets_is_told(reachable):
    mail = new_email()
    user = reachable.user(email=mail)

    answer = management.superuser(reachable).patch(f"/users/{user.pk}/password", password=NEW)

    assert answer.status_code == 200
    assert message_to(mail)["interaction_type"] == "notice_password_changed"


def test_decision_N8_a_forgotten_password_that_is_replaced_is_told(reachable):
    mail = new_email()
    reachable.user(email=mail)
    browser = reachable.browser()
    codes.proven(browser, mail, "forgot_password")

    answer = browser.post(codes.RESET, json={"identifier": mail, "new_password": NEW})

    assert answer.status_code == 200
    assert message_to(mail, number=2)["interaction_type"] == "notice_password_changed"


def test_a_person_without_a_proven_email_is_told_by_phone(reachable):
    phone = new_phone()
    user = reachable.user(phone=phone)

    tell(reachable, user, Notice.ACCOUNT_LINKED, provider="GitHub")

    text = message_to(phone)
    assert text["channel"] == "sms"
    assert text["body"].startswith("An account at GitHub was linked to your account at Acme.")


def test_decision_N1_an_unproven_address_is_told_nothing(reachable):
    mail, phone = new_email(), new_phone()
    fields = {"username": "mallory", "email": mail, "phone": phone, "password": NEW}
    reachable.browser().post(codes.REGISTER, json=fields)
    with reachable.active():
        user = User.objects.get(username="mallory")

    tell(reachable, user, Notice.PASSWORD_CHANGED)

    wait_until_sent(reachable)
    assert notices_to(mail) == notices_to(phone) == []


def test_where_nothing_can_be_delivered_nothing_fails(acme):
    user = acme.user(email=new_email(), phone=new_phone())

    answer = management.superuser(acme).patch(f"/users/{user.pk}/password", password=NEW)

    assert answer.status_code == 200
    with acme.active():
        assert not OutgoingMessage.objects.exists()


def test_a_tenant_that_used_up_its_text_messages_sends_no_notice_by_phone(reachable, monkeypatch):
    phone = new_phone()
    user = reachable.user(phone=phone)
    monkeypatch.setattr("identity.limits.rules.TENANT_TEXT_CODES", _spent())

    tell(reachable, user, Notice.PASSWORD_CHANGED)
    tell(reachable, user, Notice.PASSWORD_CHANGED)

    wait_until_sent(reachable)
    assert len(notices_to(phone)) == 1


def _spent() -> Any:
    from identity.limits.rules import Limit  # noqa: PLC0415 - beside its one use

    return Limit("text messages of this test", 1, 3600)


def test_the_language_of_the_person_goes_before_that_of_who_acts(reachable):
    german, other = new_email(), new_email()
    speaker = reachable.user(email=german, profile={"locale": "de-AT"}, custom_data={"locale": "fr"})
    user = reachable.user(email=other, profile={"locale": "tlh"}, custom_data={"locale": 7})

    with translation.override("de"):
        tell(reachable, user, Notice.EMAIL_CHANGED)
    tell(reachable, speaker, Notice.EMAIL_CHANGED)

    assert message_to(german)["subject"] == message_to(other)["subject"] != ""
    assert "was changed" not in message_to(german)["subject"]


def test_the_language_of_the_custom_data_counts_for_a_profile_without_one(reachable):
    german, other = new_email(), new_email()
    speaker = reachable.user(email=german, custom_data={"locale": "de-AT"})
    user = reachable.user(email=other)

    with translation.override("de"):
        tell(reachable, user, Notice.EMAIL_CHANGED)
    tell(reachable, speaker, Notice.EMAIL_CHANGED)

    assert message_to(german)["subject"] == message_to(other)["subject"] != ""


def test_a_tenant_s_own_words_are_sent(reachable):
    mail = new_email()
    user = reachable.user(email=mail)
    template = {
        "purpose": "notice_account_linked",
        "channel": "email",
        "language": "",
        "subject": "{name}: {provider}",
        "text": "Linked: {provider}",
        "html": "<b>{provider}</b>",
    }
    answer = management.superuser(reachable).patch("/sign-in-experience", message_templates=[template])
    assert answer.status_code == 200, answer.text

    tell(reachable, user, Notice.ACCOUNT_LINKED, provider="<Git>")

    message = message_to(mail)
    assert (message["subject"], message["body"]) == ("Acme: <Git>", "Linked: <Git>")


@pytest.mark.parametrize("text", ["{code}", "{user}"])
def test_a_notice_has_no_code(acme, text):
    template = {
        "purpose": "notice_password_changed",
        "channel": "sms",
        "language": "",
        "text": text,
    }
    answer = management.superuser(acme).patch("/sign-in-experience", message_templates=[template])

    assert answer.status_code == 400
    assert "must not contain " in answer.json()["message"]


@pytest.mark.parametrize(("language", "stop"), [("en", ". "), ("de", ". "), ("ja", "。"), ("zh-hans", "。")])
def test_the_purpose_of_a_code_ends_as_sentences_of_the_language_do(language, stop):
    with translation.override(language):
        message = texts.new_code_message(
            pk="1", purpose=Purpose.SIGN_IN, channel="email", to="x", code="123456", brand=Brand(name="Acme")
        )

    assert f"{message.subject}{stop}" in message.body
