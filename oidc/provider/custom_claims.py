"""The values of the custom claims that applications and resources declare."""

from collections.abc import Collection, Iterable
from typing import Any, Final
from uuid import UUID

import orjson

from audit import log
from audit.events import Event
from database.batching import Work
from identity.limits import services as limits
from identity.limits.rules import Limit
from identity.resources.custom_claims import MOST_BYTES, Declaration, split_path
from identity.rest.fields import timestamp
from identity.users import profile
from identity.users.models import User
from oidc.provider.claim_facts import ClaimFacts
from oidc.provider.scopes import ADDRESS, EMAIL, GROUPS, ORGANIZATION_ROLES, PHONE, PROFILE, ROLES

_MOST_BYTES_TOGETHER: Final = 4096
_OMISSIONS: Final = Limit("custom claims left out", 1, 3600)

# What a third party gets without a scope: its tokens and their organization name these already.
_PUBLIC: Final = {"user.id", "organization.id", "organization.name"}
# No scope releases these, and the consent page names none of them.
_PRIVATE: Final = ("user.custom_data.", "organization.metadata.")
# The scopes that release the other sources to a third party; ``PROFILE`` for those that are not here.
_SCOPES: Final = {
    "user.email": EMAIL,
    "user.email_verified": EMAIL,
    "user.phone": PHONE,
    "user.phone_verified": PHONE,
    "roles": ROLES,
    "groups": GROUPS,
    "organization_roles": ORGANIZATION_ROLES,
}


def build(
    declared: Iterable[Declaration], place: str, facts: ClaimFacts, scopes: Collection[str] | None
) -> Work[dict[str, Any]]:
    """Return the custom claims of a place. Add the names of those that are too large to ``facts.omitted``.

    ``scopes`` are those that the user granted a third-party application, or None for a first-party one.
    """
    claims: dict[str, Any] = {}
    total = 0
    for declaration in declared:
        name, source = declaration["name"], declaration["source"]
        if place not in declaration["into"] or not _is_released(source, scopes):
            continue
        value = yield from get_value(source, facts)
        if value in (None, ""):
            continue
        size = len(orjson.dumps(value))
        size_with_name = size + len(name)
        if size > MOST_BYTES or total + size_with_name > _MOST_BYTES_TOGETHER:
            facts.omitted.append(name)
            continue
        total += size_with_name
        claims[name] = value
    return claims


def _is_released(source: Any, scopes: Collection[str] | None) -> bool:
    """Return whether an application may get a source. A third party gets only what the consent page named."""
    if scopes is None or isinstance(source, dict) or source in _PUBLIC:
        return True
    if source.startswith(_PRIVATE):
        return False
    if source.startswith(f"user.profile.{profile.ADDRESS}"):
        return ADDRESS in scopes
    return _SCOPES.get(source, PROFILE) in scopes


def get_value(source: Any, facts: ClaimFacts) -> Work[Any]:
    """Return the value of a source, or None if it has none. An application's own token has only constants."""
    if isinstance(source, dict):
        return source["value"]
    if facts.user is None:
        return None
    if (path := split_path(source)) is not None:
        root, names = path
        return _get_member((yield from _get_root(root, facts)), names)
    if source == "organization_roles":
        return (yield from facts.get_affiliations()).organization_roles
    subject, _, name = source.partition(".")
    if subject == "organization":
        organization = yield from facts.get_organization()
        return organization and str(getattr(organization, name))
    return (
        _get_user_field(facts.user, name)
        if name
        else (yield from facts.get_role_claims({source})).get(source)
    )


def _get_user_field(user: User, name: str) -> Any:
    if name in profile.TOP_LEVEL:
        return user.profile.get(name)
    if name in {"email_verified", "phone_verified"} and not getattr(user, name.removesuffix("_verified")):
        return None
    if name in {"created_at", "updated_at"}:
        return timestamp(getattr(user, name))
    return str(user.pk) if name == "id" else getattr(user, name)


def _get_root(root: str, facts: ClaimFacts) -> Work[Any]:
    if root == "organization.metadata":
        organization = yield from facts.get_organization()
        return organization and organization.metadata
    return getattr(facts.user, root.removeprefix("user."))


def _get_member(value: Any, names: list[str]) -> Any:
    """Return the member at a path. Only members of objects are found, never those of lists."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def record_omissions(application_id: UUID, omitted: list[str]) -> None:
    """Write an audit entry about claims that were too large, at most one an hour for each application."""
    if omitted and limits.increment(_OMISSIONS, str(application_id)).count == 1:
        log.record(Event.CUSTOM_CLAIM_OMIT, application_id=application_id, claims=sorted(set(omitted)))
