"""Importing users of another system, in batches.

``custom_data["imported"]`` stores the source system and the user's id in it, so that an interrupted import
can be repeated and imports each user once.
"""

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models.fields.json import KT
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core.errors import Invalid
from identity.tenants import services as tenants
from identity.users import addresses, imported_hashes, ownership
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.imported_hashes import Bounds
from identity.users.models import User
from identity.users.profile import merge

MARK: Final = "imported"
_MAX_ID_LENGTH: Final = 256
_ATTEMPTS: Final = 3


def new_imported_user(
    fields: dict[str, Any],
    *,
    source: str,
    foreign_id: str,
    encoded: str = "",
    bounds: Bounds = imported_hashes.IMPORT_BOUNDS,
) -> User:
    """Return an unsaved user of another system.

    ``fields`` are valid fields of a user. ``encoded`` is a hash of ``imported_hashes``. It is ignored if
    there is a field ``password_hash``, which may cost what ``bounds`` allow.

    Raises:
        Invalid: a field is invalid, or there is no username, email or phone.

    """
    if not is_id(foreign_id):
        raise Invalid("id", gettext_noop("must have 1 to 256 characters, none of them control characters"))
    profile = {name: fields.get(name) or "" for name in ("username", "email", "phone", "name")}
    if not any(profile[kind] for kind in Kind):
        raise Invalid("username", gettext_noop("is required unless there is an email or phone"))
    for kind in ownership.ADDRESSES:
        if fields.get(f"{kind}_verified") and not profile[kind]:
            raise Invalid(f"{kind}_verified", addresses.WITHOUT_ADDRESS[kind])
    user = users.new_user(
        **profile,
        password="",
        verified={kind for kind in Kind if profile[kind] and fields.get(f"{kind}_verified")},
    )
    user.self_registered = False
    # The operator who runs the import vouches for its data, as an administrator does.
    user.email_proven, user.phone_proven = bool(user.email) or None, bool(user.phone) or None
    user.avatar = fields.get("avatar") or None
    user.is_suspended = fields.get("is_suspended", False)
    user.profile = merge({}, fields.get("profile", {}))
    user.custom_data = fields.get("custom_data", {}) | {MARK: {"from": source, "id": foreign_id}}
    if created_at := fields.get("created_at"):
        user.created_at = created_at
    if password_hash := fields.get("password_hash"):
        encoded = imported_hashes.normalize(password_hash, bounds)
    user.password = encoded
    return user


def is_id(text: str) -> bool:
    """Return whether a text can be the id of an imported user in the source system."""
    return 1 <= len(text) <= _MAX_ID_LENGTH and text.isprintable()


def get_imported_ids(source: str, among: Collection[str] | None = None) -> set[str]:
    """Return the ids that imported users have in the source system. ``among`` limits the search to some ids.

    Each id takes about 100 bytes of memory.
    """
    rows = User.objects.filter(custom_data__imported__from=source)
    if among is not None:
        rows = rows.filter(custom_data__imported__id__in=list(among))
    # As text: SQLite converts an id that looks like a number.
    return set(rows.values_list(KT("custom_data__imported__id"), flat=True).iterator())


def add(new_users: list[User]) -> list[tuple[User, Invalid]]:
    """Insert users of ``new_imported_user`` and their audit entries in one transaction.

    Return the refused users, each with the reason: another user has one of the identifiers.
    """
    for attempt in range(_ATTEMPTS):
        try:
            return _insert(new_users)
        except IntegrityError:
            # Another user got an identifier meanwhile. The next attempt finds the conflict.
            if attempt == _ATTEMPTS - 1:
                raise
    return []


def split_conflicts(new_users: Iterable[User]) -> tuple[list[User], list[tuple[User, Invalid]]]:
    """Return the users whose identifiers are free, and those whose identifiers another user has."""
    new_users = list(new_users)
    taken = {kind: _get_taken_keys(kind, new_users) for kind in Kind}
    accepted: list[User] = []
    refused: list[tuple[User, Invalid]] = []
    for user in new_users:
        keys = {kind: getattr(user, f"{kind}_key") for kind in Kind}
        conflict = next((kind for kind, key in keys.items() if key is not None and key in taken[kind]), None)
        if conflict is not None:
            refused.append((user, Invalid(conflict, gettext_noop("already exists"))))
            continue
        accepted.append(user)
        for kind, key in keys.items():
            taken[kind].add(key)
    return accepted, refused


def _get_taken_keys(kind: Kind, new_users: list[User]) -> set[str | None]:
    name = f"{kind}_key"
    keys = [key for user in new_users if (key := getattr(user, name)) is not None]
    existing = User.objects.filter(**{f"{name}__in": keys}) if keys else User.objects.none()
    # Accounts that hold an address unproven do not count: they lose it to the imported user.
    return {getattr(user, name) for user in existing if kind is Kind.USERNAME or user.has_proven(kind)}


@transaction.atomic
def _insert(new_users: list[User]) -> list[tuple[User, Invalid]]:
    """Insert the users whose identifiers are free, and return the others."""
    tenants.lock()  # imports of the same users in different orders would wait for each other: a deadlock
    accepted, refused = split_conflicts(new_users)
    ownership.release_to_many(accepted)
    User.objects.bulk_create(accepted)
    log.record_all(
        Event.USER_CREATE,
        (
            {"id": user.pk, "username": user.username, "imported_from": user.custom_data[MARK]["from"]}
            for user in accepted
        ),
    )
    return refused
