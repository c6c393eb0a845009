"""What a password must have, rule by rule."""

from typing import Any

import pytest

from interaction.experience import policy
from interaction.experience.models import default_password_policy
from interaction.experience.policy import PasswordRefused

NOTHING = {
    "min_length": 6,
    "require_lowercase": False,
    "require_uppercase": False,
    "require_numbers": False,
    "require_special_chars": False,
    "reject_common": False,
    "strength_meter": False,
}


def broken(password: str, rules: Any, **options: Any) -> list[str]:
    """Return the names of the rules that a password breaks."""
    try:
        policy.check(password, rules, **options)
    except PasswordRefused as refused:
        return [rule.name for rule in refused.rules]
    return []


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        ("require_lowercase", "SECRET1!", "SECRETs1!"),
        ("require_lowercase", "ÄÖÜÄÖÜ1!", "ÄÖÜÄÖÜß1!"),
        ("require_uppercase", "secret1!", "Secret1!"),
        ("require_numbers", "secret!!", "secret1!"),
        ("require_special_chars", "secret11", "secret 1"),
        ("require_special_chars", "secret11", "secret1_"),
        ("reject_common", "Password123", "Password123 of mine"),
        ("reject_common", "qwertyuiop", "qwertyuiop of mine"),
    ],
)
def test_decision_X4_each_rule_counts_when_it_is_on_and_only_then(rule, bad, good):
    on = NOTHING | {rule: True}

    assert broken(bad, on) == [rule]
    assert broken(good, on) == []
    assert broken(bad, NOTHING) == []


@pytest.mark.parametrize("length", [6, 8, 32])
def test_length_counts_characters(length):
    rules = NOTHING | {"min_length": length}

    assert broken("ü" * (length - 1), rules) == ["min_length"]
    assert broken("ü" * length, rules) == []


def test_all_broken_rules_are_named_at_once():
    everything = {**dict.fromkeys(NOTHING, True), "min_length": 10}

    with pytest.raises(PasswordRefused) as refused:
        policy.check("", everything, field="new_password")

    assert refused.value.message == (
        "new_password: must have at least 10 characters, have a lower-case letter, "
        "have an upper-case letter, have a digit, have a character that is neither letter nor digit"
    )


@pytest.mark.parametrize("password", ["alice42", "ALICE42", " alice42", "a42@example.com", "+4917012345"])
def test_it_is_not_an_identifier_of_the_person(password):
    own = ["Alice42", "A42@Example.com", "+4917012345", ""]

    assert broken(password, NOTHING, own=own) == ["not_identifier"]
    assert broken(f"{password}x", NOTHING, own=own) == []


def test_the_rules_are_known_before_they_are_broken():
    shown = policy.rules(default_password_policy())

    assert [(rule.name, rule.number) for rule in shown] == [
        ("min_length", 8),
        ("require_lowercase", 0),
        ("require_numbers", 0),
    ]
