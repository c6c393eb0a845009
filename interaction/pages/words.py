"""What things are called on the pages: what a scope allows, and what an identifier is."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.timesince import timesince
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from identity.sessions.services import TOUCH_AFTER
from identity.users.identifiers import Kind
from oidc.grants.descriptions import Described
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


def used(moment: datetime) -> str:
    """Return how long ago something was last used, no more exact than it is noted."""
    if timezone.now() - moment < TOUCH_AFTER:
        return gettext("used just now")
    return gettext("last used %(time)s ago") % {"time": timesince(moment, depth=1)}


def described(scopes: Iterable[str]) -> list[dict[str, str]]:
    """Return name, title and description of each scope; one of an API or organization is its own title."""
    words = {scope: _SCOPES.get(scope, (scope, "")) for scope in scopes}
    return [
        {"name": scope, "title": str(title), "description": str(description)}
        for scope, (title, description) in words.items()
    ]


def target(found: Described) -> dict[str, object]:
    """Return an API or organization as pages show it: a scope's description or, without one, its name."""
    return {
        "name": found.name,
        "indicator": found.indicator,
        "scopes": [
            {"title": description or name, "name": name if description else ""}
            for name, description in found.scopes
        ],
    }


def in_order(scopes: set[str]) -> list[str]:
    """Return identity scopes in the order people read them in. Other words say nothing without their API."""
    return [scope for scope in _SCOPES if scope in scopes]


def label(kinds: Iterable[Kind]) -> str:
    """Return what to call a field that takes any of these kinds of identifier."""
    return str(_LABELS[frozenset(kinds) or frozenset(Kind)])


def enter(kinds: Iterable[Kind]) -> str:
    """Return what to say of such a field that was left empty."""
    return str(_ENTER.get(frozenset(kinds), _("Enter your email or phone.")))
