"""Labels on the pages: of scopes, of identifiers and of times."""

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
from oidc.grants.descriptions import TargetDescription
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


def last_used(time: datetime) -> str:
    """Return the time since the last use as text, as precise as the stored times are."""
    if timezone.now() - time < TOUCH_AFTER:
        return gettext("used just now")
    return gettext("last used %(time)s ago") % {"time": timesince(time, depth=1)}


def describe_scopes(scopes: Iterable[str]) -> list[dict[str, str]]:
    """Return the name, title and description of each scope. The title of an unknown scope is its name."""
    texts = {scope: _SCOPES.get(scope, (scope, "")) for scope in scopes}
    return [
        {"name": scope, "title": str(title), "description": str(description)}
        for scope, (title, description) in texts.items()
    ]


def describe_target(target: TargetDescription) -> dict[str, object]:
    """Return an API or organization for the pages. A scope without a description has its name as title."""
    return {
        "name": target.name,
        "indicator": target.indicator,
        "scopes": [
            {"title": description or name, "name": name if description else ""}
            for name, description in target.scopes
        ],
    }


def sort_identity_scopes(scopes: set[str]) -> list[str]:
    """Return the scopes that are identity scopes, in the order of display."""
    return [scope for scope in _SCOPES if scope in scopes]


def identifier_label(kinds: Iterable[Kind]) -> str:
    """Return the label of a field for these kinds of identifier."""
    return str(_LABELS[frozenset(kinds) or frozenset(Kind)])


def identifier_required(kinds: Iterable[Kind]) -> str:
    """Return the error message of an empty field for these kinds of identifier."""
    return str(_ENTER.get(frozenset(kinds), _("Enter your email or phone.")))
