"""From scopes to claims. Pure: a user in, a dictionary out; what is unset is left out."""

from typing import Any

from identity.users.models import User
from oidc.provider import scopes as s


def for_id_token(user: User, scopes: tuple[str, ...]) -> dict[str, Any]:
    """Return the claims about a user that an ID token carries for these scopes."""
    claims: dict[str, Any] = {}
    if s.PROFILE in scopes:
        claims |= {"name": user.name, "username": user.username, "picture": user.avatar}
    if s.EMAIL in scopes and user.email:
        claims |= {"email": user.email, "email_verified": user.email_verified}
    return _present(claims)


def for_userinfo(user: User, scopes: tuple[str, ...]) -> dict[str, Any]:
    """Return what the UserInfo endpoint says of a user for these scopes (OpenID Connect Core 5.3)."""
    claims = {"sub": str(user.pk)} | for_id_token(user, scopes)
    if s.PROFILE in scopes:
        gender = user.custom_data.get("gender")
        claims |= {
            "gender": gender if isinstance(gender, str) else None,
            # Core 5.1: a number of seconds, not a string.
            "updated_at": int(user.updated_at.timestamp()),
        }
    if s.PHONE in scopes and user.phone:
        claims |= {"phone_number": user.phone, "phone_number_verified": user.phone_verified}
    return _present(claims)


def _present(claims: dict[str, Any]) -> dict[str, Any]:
    # Core 5.3.2: a claim that is not returned is omitted, rather than present and null or empty.
    return {name: value for name, value in claims.items() if value not in (None, "")}
