"""The rules for a password, as sentences that tell the user what to do."""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _

from interaction.experience.policy import Rule

_RULES: Final = {
    "require_lowercase": _("Add a lowercase letter"),
    "require_uppercase": _("Add an uppercase letter"),
    "require_numbers": _("Add a number"),
    "require_special_chars": _("Add a symbol"),
    "reject_common": _("Don't use a common password"),
    "reject_breached": _("Don't use a password from a known data breach"),
    "not_identifier": _("Don't use your username, email or phone number as your password"),
}


def describe(rule: Rule) -> str:
    """Return a rule as a sentence without its full stop."""
    if rule.name == "min_length":
        text = ngettext(
            "Use at least %(number)d character", "Use at least %(number)d characters", rule.number
        )
        return text % {"number": rule.number}
    return gettext(_RULES[rule.name])


def describe_all(rules: Iterable[Rule]) -> list[dict[str, object]]:
    """Return the rules of a policy as list items. A script ticks those that it can check while typing."""
    return [{"name": rule.name, "number": rule.number, "text": describe(rule)} for rule in rules]
