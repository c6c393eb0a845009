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
    s.OPENID: (_("Sign you in"), _("See an ID that stands for your account.")),
    s.PROFILE: (
        _("See your profile"),
        _("Your name, username, picture and other details, such as your birthday."),
    ),
    s.EMAIL: (_("See your email address"), _("And whether it was verified.")),
    s.PHONE: (_("See your phone number"), _("And whether it was verified.")),
    s.OFFLINE_ACCESS: (
        _("Stay connected"),
        _("Keep this access while you're away, until you remove it."),
    ),
    s.ADDRESS: (_("See your postal address"), ""),
    s.ROLES: (_("See your roles"), _("The names of your roles.")),
    s.GROUPS: (
        _("See your groups"),
        _("The names of your roles, or of your organizations and your roles in them."),
    ),
    s.ORGANIZATIONS: (_("See your organizations"), _("Which organizations you belong to.")),
    s.ORGANIZATION_ROLES: (_("See your roles"), _("Which roles you have in your organizations.")),
}

_PROFILE_FIELDS: Final = {
    "given_name": _("First name"),
    "family_name": _("Last name"),
    "middle_name": _("Middle name"),
    "nickname": _("Nickname"),
    "profile": _("Link to your profile page"),
    "website": _("Link to your website"),
    "gender": _("Gender"),
    "birthdate": _("Birthday (YYYY-MM-DD)"),
    "zoneinfo": _("Time zone (for example Europe/Berlin)"),
    "locale": _("Language (for example en-GB)"),
}
_PROFILE_AUTOCOMPLETE: Final = {
    "given_name": "given-name",
    "family_name": "family-name",
    "middle_name": "additional-name",
    "nickname": "nickname",
    "website": "url",
    "gender": "sex",
    "birthdate": "bday",
    "locale": "language",
}

_LABELS: Final[dict[tuple[Kind, ...], Promise]] = {
    (Kind.USERNAME,): _("Username"),
    (Kind.EMAIL,): _("Email"),
    (Kind.PHONE,): _("Phone"),
    (Kind.USERNAME, Kind.EMAIL): _("Username or email"),
    (Kind.USERNAME, Kind.PHONE): _("Username or phone"),
    (Kind.EMAIL, Kind.USERNAME): _("Email or username"),
    (Kind.EMAIL, Kind.PHONE): _("Email or phone"),
    (Kind.PHONE, Kind.USERNAME): _("Phone or username"),
    (Kind.PHONE, Kind.EMAIL): _("Phone or email"),
    (Kind.USERNAME, Kind.EMAIL, Kind.PHONE): _("Username, email or phone"),
    (Kind.USERNAME, Kind.PHONE, Kind.EMAIL): _("Username, phone or email"),
    (Kind.EMAIL, Kind.USERNAME, Kind.PHONE): _("Email, username or phone"),
    (Kind.EMAIL, Kind.PHONE, Kind.USERNAME): _("Email, phone or username"),
    (Kind.PHONE, Kind.USERNAME, Kind.EMAIL): _("Phone, username or email"),
    (Kind.PHONE, Kind.EMAIL, Kind.USERNAME): _("Phone, email or username"),
}
_WRONG: Final[dict[frozenset[Kind], Promise]] = {
    frozenset({Kind.EMAIL}): _("Wrong email or password."),
    frozenset({Kind.PHONE}): _("Wrong phone number or password."),
    frozenset({Kind.EMAIL, Kind.PHONE}): _("Wrong email, phone number or password."),
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
        "scopes": _describe_permissions(target.scopes),
        "apis": [{"name": name, "scopes": _describe_permissions(scopes)} for name, scopes in target.apis],
    }


def _describe_permissions(scopes: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"title": description or name, "name": name if description else ""} for name, description in scopes
    ]


def sort_identity_scopes(scopes: set[str]) -> list[str]:
    """Return the scopes that are identity scopes, in the order of display."""
    return [scope for scope in _SCOPES if scope in scopes]


def describe_profile_field(name: str) -> dict[str, str]:
    """Return the label and the autocomplete token of a member of the profile."""
    return {"label": str(_PROFILE_FIELDS[name]), "autocomplete": _PROFILE_AUTOCOMPLETE.get(name, "off")}


def identifier_label(kinds: Iterable[Kind]) -> str:
    """Return the label of a field for these kinds of identifier, in this order."""
    return str(_LABELS[tuple(kinds) or tuple(Kind)])


def wrong_password(kinds: Iterable[Kind]) -> str:
    """Return the error message of a sign-in page that takes these kinds of identifier."""
    return str(_WRONG.get(frozenset(kinds), _("Wrong username or password.")))


def mask(address: str) -> str:
    """Return a masked email or phone, which only its owner recognizes, for example ``a•••@example.com``."""
    local, at, domain = address.strip().rpartition("@")
    return f"{local[:1]}•••@{domain}" if at else f"•••{address.strip()[-3:]}"


def identifier_required(kinds: Iterable[Kind]) -> str:
    """Return the error message of an empty field for these kinds of identifier."""
    return str(_ENTER.get(frozenset(kinds), _("Enter your email or phone.")))
