"""Scopes in plain words, for people who are asked to agree."""

from typing import Final

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


def described(scopes: tuple[str, ...]) -> list[dict[str, str]]:
    """Return name, title and description of each scope."""
    return [{"name": scope, "title": _WORDS[scope][0], "description": _WORDS[scope][1]} for scope in scopes]
