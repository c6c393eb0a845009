"""The profile of users in the management API (decision P12)."""

import pytest

from identity.users.profile import ADDRESS, ADDRESS_PARTS, TEXTS
from identity.users.profile_serializers import AddressSerializer, ProfileSerializer
from tests.support.management import refusal_of, result_of
from tests.support.profiles import PROFILE
from tests.support.threads import at_once


@pytest.fixture
def ada(admin):
    return admin.created("/users", username="ada", password="secret", profile=PROFILE)


def shorten(value):
    """Return a short name of a case."""
    return repr(value)[:24]


def profile_of(admin, user):
    return result_of(admin.get(f"/users/{user['id']}"))["profile"]


def test_decision_P12_the_names_of_the_profile_are_those_of_its_serializers():
    assert (*TEXTS, ADDRESS) == tuple(ProfileSerializer().fields)
    assert tuple(AddressSerializer().fields) == ADDRESS_PARTS


def test_decision_P12_a_user_has_the_profile_that_was_sent(admin, ada):
    assert ada["profile"] == PROFILE
    assert profile_of(admin, ada) == PROFILE
    assert admin.get("/users").json()["result"]["data"][0]["profile"] == PROFILE


def test_decision_P12_a_user_without_a_profile_has_an_empty_one(admin):
    user = admin.created("/users", username="ann", password="secret")

    assert (user["profile"], user["given_name"], user["family_name"]) == ({}, "", "")


def test_decision_P12_a_patch_changes_only_the_members_that_it_has(admin, ada):
    changed = result_of(admin.patch(f"/users/{ada['id']}", profile={"nickname": "Ada", "locale": "de"}))

    assert changed["profile"] == PROFILE | {"nickname": "Ada", "locale": "de"}


@pytest.mark.parametrize("empty", [None, ""])
@pytest.mark.parametrize("name", TEXTS)
def test_decision_P12_null_and_an_empty_text_remove_a_member(admin, ada, name, empty):
    changed = result_of(admin.patch(f"/users/{ada['id']}", profile={name: empty}))

    assert changed["profile"] == {key: value for key, value in PROFILE.items() if key != name}


def test_decision_P12_an_address_replaces_the_whole_address(admin, ada):
    changed = result_of(admin.patch(f"/users/{ada['id']}", profile={"address": {"country": "FR"}}))

    assert changed["profile"] == PROFILE | {"address": {"country": "FR"}}


@pytest.mark.parametrize("empty", [None, {}, {"country": None}, {"country": ""}])
def test_decision_P12_an_empty_address_removes_the_address(admin, ada, empty):
    changed = result_of(admin.patch(f"/users/{ada['id']}", profile={"address": empty}))

    assert "address" not in changed["profile"]


def test_decision_P12_a_patch_of_other_fields_keeps_the_profile(admin, ada):
    admin.patch(f"/users/{ada['id']}", name="Ada King", custom_data={"plan": "gold"})

    assert profile_of(admin, ada) == PROFILE


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, 7) for name in TEXTS),
        *((name, ["x"]) for name in TEXTS),
        *((name, "x" * 2049) for name in TEXTS),
        *((name, "two\nlines") for name in TEXTS),
        *(("profile", value) for value in ("javascript:alert(1)", "ada", "ftp://x.example", "https://")),
        *(("profile", value) for value in ("https://a b", 'https://x.example/"')),
        *(("website", value) for value in ("javascript:alert(1)", "//x.example", "data:text/html,x")),
        *(("birthdate", value) for value in ("1815-13-01", "1815-02-30", "10.12.1815", "1815-12", "0000")),
        *(("birthdate", value) for value in ("815", "2001-02-29", "१८१५", "1815-12-1T", "0000-00-00")),
        *(("zoneinfo", value) for value in ("Mars/Phobos", "europe london", "../etc/passwd", "+01:00")),
        *(("locale", value) for value in ("english please", "e", "en-", "-en", "de_DE.UTF-8")),
        ("address", "London"),
        ("address", ["London"]),
    ],
    ids=shorten,
)  # fmt: skip
def test_decision_P12_a_bad_value_is_refused_with_its_member_named(admin, ada, name, value):
    message = refusal_of(admin.patch(f"/users/{ada['id']}", profile={name: value}), 400)

    assert message.startswith(f"profile.{name}: ")
    assert profile_of(admin, ada) == PROFILE


@pytest.mark.parametrize("value", [7, ["x"], {"x": 1}, "x" * 1025, "x\x07"], ids=shorten)
@pytest.mark.parametrize("part", ADDRESS_PARTS)
def test_decision_P12_a_bad_part_of_an_address_is_refused_with_its_name(admin, ada, part, value):
    message = refusal_of(admin.patch(f"/users/{ada['id']}", profile={"address": {part: value}}), 400)

    assert message.startswith(f"profile.address.{part}: ")


@pytest.mark.parametrize("value", ["0000-12-10", "1815", "2000-02-29", "0000-02-29"])
def test_decision_P12_a_birthdate_may_lack_the_year_or_the_day(admin, ada, value):
    changed = result_of(admin.patch(f"/users/{ada['id']}", profile={"birthdate": value}))

    assert changed["profile"]["birthdate"] == value


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"givenName": "Ada"}, "profile.givenName"),
        ({"name": "Ada"}, "profile.name"),
        ({"sub": "x"}, "profile.sub"),
        ({"__proto__": {}}, "profile.__proto__"),
        ({"address": {"city": "London"}}, "profile.address.city"),
    ],
)
def test_decision_P12_an_unknown_member_is_refused_with_its_name(admin, sent, place):
    message = refusal_of(admin.post("/users", username="ann", password="secret", profile=sent), 400)

    assert message.startswith(f"{place}: ")


@pytest.mark.parametrize("profile", [None, 1, "x", [], [PROFILE]])
def test_decision_P12_a_profile_is_an_object(admin, ada, profile):
    message = refusal_of(admin.patch(f"/users/{ada['id']}", profile=profile), 400)

    assert message.startswith("profile: ")


def test_decision_Q1_names_at_the_top_level_are_those_of_the_profile(admin, ada):
    assert (ada["given_name"], ada["family_name"]) == ("Ada", "Lovelace")

    changed = result_of(admin.patch(f"/users/{ada['id']}", given_name="Augusta", family_name=""))

    assert (changed["given_name"], changed["family_name"]) == ("Augusta", "")
    assert changed["profile"]["given_name"] == "Augusta"
    assert "family_name" not in changed["profile"]
    assert changed["profile"]["nickname"] == PROFILE["nickname"]


def test_decision_Q1_names_may_come_in_both_places_with_the_same_value(admin):
    user = admin.created(
        "/users", username="ann", password="secret", given_name="Ann", profile={"given_name": "Ann"}
    )

    assert (user["given_name"], user["profile"]) == ("Ann", {"given_name": "Ann"})


@pytest.mark.parametrize("name", ["given_name", "family_name"])
@pytest.mark.parametrize(("top", "inner"), [("Ann", "Anna"), ("Ann", None), ("", "Ann")])
def test_decision_Q1_two_names_that_differ_are_refused(admin, ada, name, top, inner):
    answer = admin.patch(f"/users/{ada['id']}", **{name: top, "profile": {name: inner}})

    assert refusal_of(answer, 400).startswith(f"{name}: ")
    assert profile_of(admin, ada) == PROFILE


@pytest.mark.parametrize("name", ["given_name", "family_name"])
@pytest.mark.parametrize("value", [7, ["x"], "x" * 257, "two\nlines"], ids=shorten)
def test_decision_Q1_a_bad_name_at_the_top_level_is_refused(admin, ada, name, value):
    assert refusal_of(admin.patch(f"/users/{ada['id']}", **{name: value}), 400).startswith(f"{name}: ")


def test_decision_P12_two_changes_at_once_keep_both_members(admin, ada):
    path = f"/users/{ada['id']}"
    for round_ in range(5):
        changes = [{"nickname": f"n{round_}"}, {"website": f"https://x.example/{round_}"}]
        answers = at_once(2, lambda index, all_=changes: admin.patch(path, profile=all_[index]))

        assert [answer.status_code for answer in answers] == [200, 200]
        kept = profile_of(admin, ada)
        assert (kept["nickname"], kept["website"]) == (f"n{round_}", f"https://x.example/{round_}")


def test_decision_P12_another_tenants_user_is_unknown(admin, rival, ada):
    answer = admin.at(rival).patch(f"/users/{ada['id']}", profile={"nickname": "x"})

    refusal_of(answer, 404)
    assert profile_of(admin, ada) == PROFILE
