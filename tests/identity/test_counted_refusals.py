"""Refusals with numbers: one message for one, another for several, and English for programs."""

import json

import pytest
from django.utils.translation import override

from identity.core.records import UnknownIds
from identity.limits.services import TooMany
from identity.users.credentials import clean_password
from identity.users.user_lines import MAX_USERS, find_user_ids


@pytest.mark.parametrize(("seconds", "text"), [(1, "1 second"), (2, "2 seconds"), (3600, "3600 seconds")])
def test_it_says_when_to_try_again(seconds, text):
    with override("de"):
        refusal = TooMany(seconds)

    assert refusal.message == f"too many requests: try again in {text}"
    assert json.loads(json.dumps(refusal.message)) == refusal.message
    assert refusal.headers == {"Retry-After": str(seconds)}


@pytest.mark.parametrize(("number", "end"), [(1, "id0"), (20, ", id19"), (21, ", id19 and 1 more")])
def test_it_names_twenty_ids_and_counts_the_others(number, end):
    refusal = UnknownIds("user_ids", [f"id{place}" for place in range(number)])

    assert refusal.rule.startswith("unknown or not of the required type: id0")
    assert refusal.rule.endswith(end)
    assert refusal.message == f"user_ids: {refusal.rule}"


def test_a_short_password_is_told_the_bounds():
    with pytest.raises(Exception, match=r"^password: must have 6 to 256 characters$"):
        clean_password("short")


def test_too_many_lines_are_told_the_bound():
    with pytest.raises(Exception, match=f"^user_ids: at most {MAX_USERS} at once$"):
        find_user_ids("\n".join(str(number) for number in range(MAX_USERS + 1)), "user_ids")
