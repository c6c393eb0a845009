"""Profiles built from unchecked claims of a provider."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.users import identifiers
from interaction.connectors.errors import ProviderError
from interaction.connectors.providers import oauth, rules
from interaction.connectors.providers.base import AccountName, Endpoints, Profile, TokenResponse

_LONGEST_SUBJECT: Final = 255  # OpenID Connect Core 1.0 section 2
_LONGEST_URL: Final = 2048


def from_openid(endpoints: Endpoints, tokens: TokenResponse) -> Profile:
    """Return the profile from the standard claims of the ID token, and from userinfo if claims are missing.

    Raises:
        ProviderError: userinfo has another subject.

    """
    claims = dict(tokens.claims)
    if endpoints.userinfo and not {"email", "name"} <= claims.keys():
        response = oauth.get_with_token(endpoints.userinfo, tokens.access_token)
        userinfo = response.json() if response.ok else {}
        # OpenID Connect Core 5.3.2: if the sub differs, the userinfo response MUST NOT be used.
        if userinfo and userinfo.get("sub") != claims["sub"]:
            raise ProviderError(gettext_noop("the provider's userinfo belongs to another user"))
        # email and email_verified are taken from the same source.
        unused = userinfo if "email" in claims else claims
        for name in ("email", "email_verified"):
            unused.pop(name, None)
        claims = userinfo | claims
    return build_profile(
        provider=claims["iss"],
        subject=claims["sub"],
        name=claims.get("name"),
        email=claims.get("email"),
        email_verified=claims.get("email_verified"),
        avatar=claims.get("picture"),
    )


def build_profile(  # noqa: PLR0913 - the parts of a profile
    *,
    provider: str,
    subject: object,
    name: object = None,
    email: object = None,
    email_verified: object = False,
    avatar: object = None,
) -> Profile:
    """Return a profile from unchecked values. Values that are not valid are left out.

    Raises:
        ProviderError: there is no valid subject.

    """
    if isinstance(subject, int) and not isinstance(subject, bool):
        subject = str(subject)
    if not isinstance(subject, str) or not subject.isprintable() or not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise ProviderError(gettext_noop("the provider did not return the id of the user who signed in"))
    address = _email(email)
    return Profile(
        provider=provider,
        subject=subject,
        name=clean_name(name),
        email=address,
        email_verified=bool(address) and email_verified is True,
        avatar=_https(avatar),
    )


def get_member(document: Mapping[str, Any], name: str) -> object:
    """Return a member of a document; None if it is missing. A dot in the name separates nested members."""
    member: Any = document if name else None
    for part in name.split("."):
        member = member.get(part) if isinstance(member, dict) else None
    return member


def with_alias(profile: Profile, alias: AccountName) -> Profile:
    """Return the profile with another name of the account.

    Raises:
        ProviderError: the alias is not valid.

    """
    build_profile(provider=alias.provider, subject=alias.subject)
    return replace(profile, alias=alias)


def get_domain(address: str) -> str:
    """Return the domain of an email address in lower case; an empty string without an address."""
    return address.rpartition("@")[2].lower()


def clean_name(value: object) -> str:
    """Return a name as one line of at most 256 characters; an empty string for anything but a text."""
    return _line(value)[: rules.LONGEST_NAME].strip()


def _line(value: object) -> str:
    return "".join(c for c in value if c.isprintable()) if isinstance(value, str) else ""


def _email(value: object) -> str:
    try:
        return identifiers.clean_email(value) if isinstance(value, str) else ""
    except Invalid:
        return ""


def _https(value: object) -> str:
    text = value if isinstance(value, str) and value.isascii() and value.isprintable() else ""
    return text if text.startswith("https://") and len(text) <= _LONGEST_URL and " " not in text else ""
