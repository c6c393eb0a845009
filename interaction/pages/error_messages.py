"""The error messages of the pages."""

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_noop as _

from identity.core.errors import Invalid, ServiceError
from interaction.experience.policy import PasswordRefused, Rule

_MESSAGES: Final = {
    "invalid_credentials": _("That is not your password. Try again."),
    "locked": _("Too many wrong passwords. Wait a while, or choose another way."),
    "nothing_awaited": _("The code has expired. Ask for another."),
    "sign_in_again": _("Sign in again first, and come back within five minutes."),
    "overloaded": _("Many people are signing in at this moment. Wait a few seconds and try again."),
    "suspended": _("Your account is suspended. Ask the people who run this service to open it again."),
    "captcha_unavailable": _("We cannot check that you are a person at this moment. Try again in a minute."),
    "rate_limited": _("Too many requests came from your network. Wait a few minutes and try again."),
    "sent_too_often": _(
        "We sent a code a moment ago: use that one. Wait a minute before you ask for another."
    ),
    "wrong_code": _("That code is wrong or has expired. Check it, or ask for a new one."),
    "not_verified": _("Your code was entered too long ago. Ask for a new one."),
    "no_connector": _("We cannot send codes at this moment. Try another way."),
    "method_off": _("That way is not offered here. Try another."),
    "registration_off": _("New accounts are not offered here. Ask the people who run this service for one."),
    "stale": _("Your account was changed at this moment, perhaps in another window. Try again."),
    "gone": _("That account is not there any more."),
    "last_way_in": _("It is your only way to sign in. Set a password first."),
    "linked_elsewhere": _("That account is linked to somebody else."),
    "not_offered": _("Accounts there cannot be linked any more."),
    "provider_failed": _("The other service does not answer. Try again later."),
    "contact_taken": _("Somebody else has this already. Choose another."),
    "session_not_found": _("That browser is signed out already."),
    "application_not_connected": _("That application is not connected any more."),
    "deletion_off": _("You cannot delete your account here. Ask the people who run this service."),
    "username_is_fixed": _("You cannot change your username here. Ask the people who run this service."),
    "not_confirmed": _("That is not what you were asked to type."),
}
_FIELDS: Final = {
    "username": _(
        "A username has 1 to 128 characters, without spaces or @, and does not look like a phone number."
    ),
    "email": _("This is not an email address. Check it, like name@example.com."),
    "phone": _("This is not a phone number. Check it, like +49 170 1234567."),
    "identifier": _("This is not an address that a code could be sent to. Check it."),
    "captcha_token": _("Confirm that you are a person, then try again."),
    "avatar": _("Enter an address that begins with https://."),
}
_TAKEN: Final = _("Somebody else has this already. Choose another, or sign in if it is your own.")
_RULES: Final = {
    "require_lowercase": _("a lower-case letter"),
    "require_uppercase": _("an upper-case letter"),
    "require_numbers": _("a digit"),
    "require_special_chars": _("a character that is neither a letter nor a digit"),
    "reject_common": _("not a password that many people use"),
    "reject_breached": _("not a password that is known from a data breach"),
    "not_identifier": _("something else than your username, email address or phone number"),
}


def describe_rule(rule: Rule) -> str:
    """Return a rule as a list item, without a full stop."""
    if rule.name == "min_length":
        text = ngettext("at least %(number)d character", "at least %(number)d characters", rule.number)
        return text % {"number": rule.number}
    return gettext(_RULES[rule.name])


def describe_rules(rules: Iterable[Rule]) -> list[str]:
    """Return the rules of a policy as list items."""
    return [describe_rule(rule) for rule in rules]


def get_messages(error: ServiceError) -> list[str]:
    """Return the messages of an error: one for each problem."""
    if isinstance(error, PasswordRefused):
        return [
            gettext("Your password needs %(rule)s.") % {"rule": describe_rule(rule)} for rule in error.rules
        ]
    if error.reason in _MESSAGES:
        return [gettext(_MESSAGES[error.reason])]
    if isinstance(error, Invalid) and error.rule == "already exists":
        return [gettext(_TAKEN)]
    if isinstance(error, Invalid) and error.field in _FIELDS:
        return [gettext(_FIELDS[error.field])]
    return [gettext("That did not work. Go back and try again.")]
