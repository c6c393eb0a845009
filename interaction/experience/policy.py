"""The rules for passwords that users choose.

The rules do not apply to administrators, who set a temporary first password.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from identity.core.errors import Invalid
from identity.users import common_passwords, identifiers
from interaction.experience import breached_passwords


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its name, its requirement (which follows "must"), and its number if it has one."""

    name: str
    requirement: str
    number: int = 0


class PasswordRefused(Invalid):
    """A password breaks the policy. ``rules`` has all the rules that it breaks."""

    reason = "password_policy"

    def __init__(self, field: str, rules: list[Rule]) -> None:
        self.rules = rules
        super().__init__(field, "must " + ", ".join(rule.requirement for rule in rules))


_NOT_YOUR_NAME: Final = Rule("not_identifier", "not be the username, email address or phone number itself")
_KINDS: Final[tuple[tuple[Rule, Callable[[str], bool]], ...]] = (
    (Rule("require_lowercase", "have a lower-case letter"), str.islower),
    (Rule("require_uppercase", "have an upper-case letter"), str.isupper),
    (Rule("require_numbers", "have a digit"), str.isdigit),
    (
        Rule("require_special_chars", "have a character that is neither letter nor digit"),
        lambda c: not c.isalnum(),
    ),
)


_NOT_COMMON: Final = Rule("reject_common", "not be a common password")
_NOT_BREACHED: Final = Rule("reject_breached", "not be known from a data breach")


def rules(policy: Mapping[str, Any]) -> list[Rule]:
    """Return the rules of a policy, which pages show before the user enters a password."""
    enabled = [_length(policy), *(rule for rule, _ in _KINDS if policy[rule.name])]
    if policy.get("reject_common"):
        enabled.append(_NOT_COMMON)
    if _rejects_breached(policy):
        enabled.append(_NOT_BREACHED)
    return enabled


def has_meter(policy: Mapping[str, Any]) -> bool:
    """Return whether pages show the strength of a password. The meter does not refuse passwords."""
    return bool(policy.get("strength_meter"))


def check(
    password: str, policy: Mapping[str, Any], *, field: str = "password", own: Iterable[str] = ()
) -> str:
    """Return the password if it satisfies the policy. ``own`` has the user's identifiers.

    ``field`` is the name of the field in the error. The length is counted in characters.

    Raises:
        PasswordRefused: the password breaks rules. The error has all of them.

    """
    broken = [] if len(password) >= policy["min_length"] else [_length(policy)]
    broken += [rule for rule, has in _KINDS if policy[rule.name] and not any(map(has, password))]
    if _fold(password) in {_fold(identifier) for identifier in own if identifier}:
        broken.append(_NOT_YOUR_NAME)
    if policy.get("reject_common") and common_passwords.is_common(password):
        broken.append(_NOT_COMMON)
    if _rejects_breached(policy) and breached_passwords.is_breached(password):
        broken.append(_NOT_BREACHED)
    if broken:
        raise PasswordRefused(field, broken)
    return password


def _rejects_breached(policy: Mapping[str, Any]) -> bool:
    return bool(policy.get("reject_breached")) and breached_passwords.is_available()


def _length(policy: Mapping[str, Any]) -> Rule:
    number = policy["min_length"]
    return Rule("min_length", f"have at least {number} characters", number)


def _fold(text: str) -> str:
    return identifiers.fold(text.strip())
