"""Scopes in plain words, for people who are asked to agree."""

from typing import Final

from django.utils.translation import gettext_lazy as _

from oidc.provider import scopes as s

_WORDS: Final = {
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


def described(scopes: tuple[str, ...]) -> list[dict[str, str]]:
    """Return name, title and description of each scope."""
    return [
        {"name": scope, "title": str(_WORDS[scope][0]), "description": str(_WORDS[scope][1])}
        for scope in scopes
    ]
