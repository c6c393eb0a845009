"""Sentences for people: what a scope allows, what a rule asks for, why something was refused."""

from collections.abc import Iterable
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from identity.core.errors import Invalid, ServiceError
from identity.users.identifiers import Kind
from interaction.experience.policy import PasswordRefused, Rule
from oidc.provider import scopes as s

_SCOPES: Final = {
    s.OPENID: (_("Sign you in"), _("Learn an id that stands for your account here.")),
    s.PROFILE: (_("See your profile"), _("Your name, username and picture.")),
    s.EMAIL: (_("See your email address"), _("And whether it was verified.")),
    s.PHONE: (_("See your phone number"), _("And whether it was verified.")),
    s.OFFLINE_ACCESS: (
        _("Stay connected"),
        _("Keep this access while you are away, until you take it back."),
    ),
    s.ORGANIZATIONS: (_("See your organizations"), _("Which organizations you belong to.")),
    s.ORGANIZATION_ROLES: (_("See your roles"), _("Which roles you have in your organizations.")),
}

_LABELS: Final[dict[frozenset[Kind], Promise]] = {
    frozenset({Kind.USERNAME}): _("Username"),
    frozenset({Kind.EMAIL}): _("Email"),
    frozenset({Kind.PHONE}): _("Phone"),
    frozenset({Kind.USERNAME, Kind.EMAIL}): _("Username or email"),
    frozenset({Kind.USERNAME, Kind.PHONE}): _("Username or phone"),
    frozenset({Kind.EMAIL, Kind.PHONE}): _("Email or phone"),
    frozenset(Kind): _("Username, email or phone"),
}
_ENTER: Final[dict[frozenset[Kind], Promise]] = {
    frozenset({Kind.USERNAME}): _("Enter a username."),
    frozenset({Kind.EMAIL}): _("Enter an email address."),
    frozenset({Kind.PHONE}): _("Enter a phone number."),
}

_POLICY: Final[dict[str, Promise]] = {
    "require_lowercase": _("a lower-case letter"),
    "require_uppercase": _("an upper-case letter"),
    "require_numbers": _("a digit"),
    "require_special_chars": _("a character that is neither letter nor digit"),
    "not_identifier": _("something else than your username, email or phone"),
}

_REFUSED: Final[dict[str, Promise]] = {
    "invalid_credentials": _("That does not match any account. Check both fields and try again."),
    "locked": _("That does not match any account. After so many tries we wait a while before the next."),
    "suspended": _("Your account is suspended. Ask the people who run this service to open it again."),
    "overloaded": _("Many people are signing in at this moment. Wait a few seconds and try again."),
    "rate_limited": _("Too many requests came from your network. Wait a few minutes and try again."),
    "sent_too_often": _("We sent you a code a moment ago. Use that one, or wait a minute for another."),
    "wrong_code": _("That code is wrong or has expired. Check it, or ask for a new one."),
    "not_verified": _("Your code was entered too long ago. Ask for a new one."),
    "no_connector": _("We cannot send codes at this moment. Try another way."),
    "method_off": _("That way is not offered here. Try another."),
    "registration_off": _("New accounts are not offered here. Ask the people who run this service for one."),
}
_INVALID: Final[dict[tuple[str, str], Promise]] = {
    ("username", "already exists"): _("Somebody already has this username. Choose another."),
    ("email", "already exists"): _("An account with this email exists already. Sign in instead."),
    ("phone", "already exists"): _("An account with this phone exists already. Sign in instead."),
    ("username", "must not contain white space, control characters or @"): _(
        "A username has no spaces and no @."
    ),
    ("username", "must not look like a phone number"): _("A username must not look like a phone number."),
}
_WRONG_SHAPE: Final[dict[str, Promise]] = {
    "username": _("This cannot be a username. Choose another."),
    "email": _("This is not an email address. Check it, like name@example.com."),
    "phone": _("This is not a phone number. Check it, like +49 170 1234567."),
    "identifier": _("This is not an address that a code could be sent to. Check it."),
}


def described(scopes: tuple[str, ...]) -> list[dict[str, str]]:
    """Return name, title and description of each scope."""
    return [
        {"name": scope, "title": str(_SCOPES[scope][0]), "description": str(_SCOPES[scope][1])}
        for scope in scopes
    ]


def label(kinds: Iterable[Kind]) -> str:
    """Return what to call a field that takes any of these kinds of identifier."""
    return str(_LABELS[frozenset(kinds) or frozenset(Kind)])


def enter(kinds: Iterable[Kind]) -> str:
    """Return what to say of such a field that was left empty."""
    return str(_ENTER.get(frozenset(kinds), _("Enter your email or phone.")))


def hints(rules: Iterable[Rule]) -> list[str]:
    """Return what a password must have, a line each."""
    return [_hint(rule) for rule in rules]


def _hint(rule: Rule) -> str:
    if rule.name == "min_length":
        return ngettext("at least %(n)d character", "at least %(n)d characters", rule.number) % {
            "n": rule.number
        }
    return str(_POLICY[rule.name])


def refusal(error: ServiceError) -> str:
    """Return what to tell a person whose form was refused."""
    if isinstance(error, PasswordRefused):
        return str(_("A password needs: %(rules)s.")) % {"rules": ", ".join(hints(error.rules))}
    if isinstance(error, Invalid):
        known = _INVALID.get((error.field, error.rule)) or _WRONG_SHAPE.get(error.field)
        return str(known or _("This cannot be used. Check it and try again."))
    return str(_REFUSED.get(error.reason, _("That did not work. Go back and try again.")))
