"""Scopes in plain words, for people who are asked to agree."""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext

from identity.sessions.services import TOUCH_AFTER
from oidc.provider import scopes as s

_WORDS: Final = {
    s.OPENID: ("Sign you in", "Learn an id that stands for your account here."),
    s.PROFILE: ("See your profile", "Your name, username and picture."),
    s.EMAIL: ("See your email address", "And whether it was verified."),
    s.PHONE: ("See your phone number", "And whether it was verified."),
    s.OFFLINE_ACCESS: ("Stay connected", "Keep this access while you are away, until you take it back."),
    s.ORGANIZATIONS: ("See your organizations", "Which organizations you belong to."),
    s.ORGANIZATION_ROLES: ("See your roles", "Which roles you have in your organizations."),
}


def used(moment: datetime) -> str:
    """Return how long ago something was last used, no more exact than it is noted."""
    if timezone.now() - moment < TOUCH_AFTER:
        return gettext("used just now")
    return gettext("last used %(time)s ago") % {"time": timesince(moment, depth=1)}


def described(scopes: Iterable[str]) -> list[dict[str, str]]:
    """Return name, title and description of each scope; one of an API or organization is its own title."""
    words = {scope: _WORDS.get(scope, (scope, "")) for scope in scopes}
    return [{"name": scope, "title": words[scope][0], "description": words[scope][1]} for scope in words]


def in_order(scopes: set[str]) -> list[str]:
    """Return scopes in the order people read them in: who they are first, other things last."""
    return [scope for scope in _WORDS if scope in scopes] + sorted(scopes - _WORDS.keys())
