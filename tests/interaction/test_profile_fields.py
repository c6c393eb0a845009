"""The members of the profile that a tenant's pages show (``account.profile_fields``, decision P12)."""

import pytest

from identity.users.models import User
from tests.support import cast, management
from tests.support.forms import form
from tests.support.management import refusal_of, result_of

FIELDS = ["given_name", "birthdate"]


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def show(admin, fields=FIELDS):
    return result_of(admin.patch("/sign-in-experience", account={"profile_fields": fields}))


def save(browser, **typed):
    sent = form(browser.get("/account/profile"))
    return browser.post("/account/profile", data=sent.fields | typed)


def profile_of(world, user):
    with world.active():
        return User.objects.get(pk=user.pk).profile


def test_decision_P12_the_account_page_shows_nothing_more_at_first(acme):
    browser, _ = cast.signed_in(acme)

    page = browser.get("/account/profile")

    assert not [name for name in ("given_name", "birthdate", "profile") if f'name="{name}"' in page.text]


def test_decision_P12_the_account_page_shows_and_saves_the_chosen_members(acme, admin):
    show(admin)
    browser, user = cast.signed_in(acme, profile={"given_name": "Ada", "nickname": "A"})

    page = browser.get("/account/profile")
    answer = save(browser, given_name="Augusta", birthdate="1815-12-10")

    assert 'value="Ada"' in page.text
    assert 'name="nickname"' not in page.text
    assert answer.status_code == 303
    assert profile_of(acme, user) == {"given_name": "Augusta", "nickname": "A", "birthdate": "1815-12-10"}


def test_decision_P12_a_bad_value_is_refused_on_the_account_page(acme, admin):
    show(admin)
    browser, user = cast.signed_in(acme)

    answer = save(browser, birthdate="yesterday")

    assert answer.status_code == 400
    assert "Check the format of this value." in answer.text
    assert profile_of(acme, user) == {}


def test_decision_P12_a_member_that_is_not_shown_cannot_be_set(acme, admin):
    show(admin)
    browser, user = cast.signed_in(acme)

    save(browser, given_name="Ada", gender="x")

    assert profile_of(acme, user) == {"given_name": "Ada"}


def test_decision_P12_a_registration_takes_the_chosen_members_alone(acme, admin):
    show(admin)
    browser = acme.browser()

    answer = browser.post(
        "/api/interaction/register",
        json={"username": "ada", "password": cast.PASSWORD, "profile": {"given_name": "Ada", "gender": "x"}},
    )

    assert answer.status_code == 200, answer.text
    with acme.active():
        assert User.objects.get(username="ada").profile == {"given_name": "Ada"}


def test_decision_P12_the_registration_page_asks_for_the_chosen_members(acme, admin):
    show(admin)
    browser = acme.browser()

    page = browser.get("/register")
    answer = form(page).submit(browser, username="ada", password=cast.PASSWORD, given_name="Ada")

    assert 'name="birthdate"' in page.text
    assert answer.status_code == 303, answer.text
    with acme.active():
        assert User.objects.get(username="ada").profile == {"given_name": "Ada"}


@pytest.mark.parametrize("fields", ["given_name", ["address"], ["custom_data"], [1], None])
def test_decision_P12_only_texts_of_the_profile_are_chosen(admin, fields):
    answer = admin.patch("/sign-in-experience", account={"profile_fields": fields})

    assert "account.profile_fields" in refusal_of(answer, 400)
