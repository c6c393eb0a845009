"""From what a provider says of a person to what we keep of it: short, printable, of the right type."""

from collections.abc import Mapping
from typing import Any, Final

from identity.core.errors import Invalid
from identity.users import identifiers
from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth
from interaction.connectors.providers.base import Endpoints, Granted, Profile

_LONGEST_SUBJECT: Final = 255  # OpenID Connect Core 1.0 section 2
_LONGEST_NAME: Final = 256
_LONGEST_URL: Final = 2048


def of_openid(endpoints: Endpoints, granted: Granted) -> Profile:
    """Read the standard claims: of the ID token and, for what it leaves out, of userinfo.

    Raises:
        ProviderError: userinfo speaks of somebody else.

    """
    claims = dict(granted.claims)
    if endpoints.userinfo and not {"email", "name"} <= claims.keys():
        answer = oauth.asked(endpoints.userinfo, granted.access_token)
        found = answer.json() if answer.ok else {}
        # OpenID Connect Core 5.3.2: without the very same sub nothing of it may be used.
        if found and found.get("sub") != claims["sub"]:
            raise ProviderError("the provider's userinfo is not that of who signed in")
        # An address and whether it was verified are one statement: never half of each.
        silent = found if "email" in claims else claims
        for name in ("email", "email_verified"):
            silent.pop(name, None)
        claims = found | claims
    return made(
        provider=claims["iss"],
        subject=claims["sub"],
        name=claims.get("name"),
        email=claims.get("email"),
        email_verified=claims.get("email_verified"),
        avatar=claims.get("picture"),
    )


def made(  # noqa: PLR0913 - the parts of a profile
    *,
    provider: str,
    subject: object,
    name: object = None,
    email: object = None,
    email_verified: object = False,
    avatar: object = None,
) -> Profile:
    """Return a profile of what a provider said, whatever that is.

    Raises:
        ProviderError: it does not say who it is.

    """
    if isinstance(subject, int) and not isinstance(subject, bool):
        subject = str(subject)
    if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise ProviderError("the provider does not say who signed in")
    address = _email(email)
    return Profile(
        provider=provider,
        subject=subject,
        name=_line(name)[:_LONGEST_NAME].strip(),
        email=address,
        email_verified=bool(address) and email_verified is True,
        avatar=_https(avatar),
    )


def member(document: Mapping[str, Any], name: str) -> object:
    """Return a member of a document; a dot in its name leads into an object. No name, no member."""
    found: Any = document if name else None
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _line(value: object) -> str:
    return "".join(c for c in value if c.isprintable()) if isinstance(value, str) else ""


def _email(value: object) -> str:
    try:
        return identifiers.email(value) if isinstance(value, str) else ""
    except Invalid:
        return ""


def _https(value: object) -> str:
    text = value if isinstance(value, str) and value.isascii() and value.isprintable() else ""
    return text if text.startswith("https://") and len(text) <= _LONGEST_URL and " " not in text else ""
