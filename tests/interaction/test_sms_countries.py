"""Countries that text messages are sent to."""

import pytest

from identity.core.errors import Invalid
from identity.users.models import User
from interaction.experience import checks, sms_countries
from tests.support import codes
from tests.support.management import refusal_of, result_of, superuser


@pytest.mark.parametrize(
    ("phone", "allowed"),
    [
        ("+4915112345678", True),
        ("+41791234567", True),
        ("+18762345678", False),  # Jamaica has the country code of the United States
        ("+12025550123", False),
        ("+882161234567", False),  # a satellite
        ("15112345678", False),
        ("+0000000", False),
        ("+41800123456", True),  # free to call
        ("+49900123456", True),  # no premium-rate number: it has a digit too few
        ("+41900123456", False),  # premium rate
        ("+491805123456", False),  # shared cost
        ("+41581234567", False),  # a company-wide number
    ],
)
def test_a_phone_is_of_a_country(phone, allowed):
    assert sms_countries.is_allowed(phone, ["DE", "CH"]) is allowed
    assert sms_countries.is_allowed(phone, [])


def test_an_unknown_refusal_names_field_and_rule():
    with pytest.raises(Invalid, match=r"identifier: must be a phone number of DE, CH"):
        sms_countries.check("+12025550123", ["DE", "CH"])


@pytest.mark.parametrize("purpose", ["sign_in", "forgot_password", "register"])
def test_known_and_unknown_people_abroad_are_told_the_same(reachable, purpose):
    codes.experience(reachable, account={"sms_countries": ["DE"]}, sign_up={"identifiers": ["phone"]})
    known, unknown = "+12025550123", "+12025550124"
    user = reachable.user(phone=known)
    with reachable.active():
        User.objects.filter(pk=user.pk).update(phone_verified=True)

    answers = [codes.send(reachable.browser(), phone, purpose) for phone in (known, unknown)]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert len({answer.json()["message"] for answer in answers}) == 1
    assert "DE" in answers[0].json()["message"]
    assert codes.messages_to(known) == []
    assert codes.send(reachable.browser(), codes.new_phone(), purpose).status_code == 200


def test_the_api_takes_countries_and_nothing_else(acme):
    api = superuser(acme)

    shown = result_of(api.patch("/sign-in-experience", account={"sms_countries": ["DE", "CH", "DE"]}))

    assert shown["account"]["sms_countries"] == ["DE", "CH"]
    assert shown["sign_in"]["methods"]
    for wrong in (["XX"], ["49"], "DE", [1]):
        refusal_of(api.patch("/sign-in-experience", account={"sms_countries": wrong}), 400)


def test_the_doctor_hints_where_all_countries_are_allowed(reachable, settings):
    settings.DEVELOPMENT = False
    with reachable.active():
        assert [found.id for found in checks.text_messages()] == ["experience.I004"]
        codes.experience(reachable, account={"sms_countries": ["DE"]})
        assert list(checks.text_messages()) == []
