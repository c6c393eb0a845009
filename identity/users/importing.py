"""Importing users of another system, in batches.

``custom_data["imported"]`` stores the source system and the user's id in it, so that an interrupted import
can be repeated and imports each user once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models.fields.json import KT
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from identity.core.errors import Invalid
from identity.tenants import services as tenants
from identity.users import addresses, identifiers, imported_hashes, ownership
from identity.users import services as users
from identity.users.identifiers import ADDRESS_KINDS, Kind
from identity.users.imported_hashes import Bounds
from identity.users.models import User
from identity.users.profile import merge

MARK: Final = "imported"
_MAX_ID_LENGTH: Final = 256
_ATTEMPTS: Final = 3
_GET_KEY: Final = {
    Kind.USERNAME: identifiers.fold,
    Kind.EMAIL: identifiers.fold,
    Kind.PHONE: identifiers.parse_phone,
}

# Hashes of a user's identifiers and time of creation. They take less memory than the values.
Traits = tuple[int, ...]


def new_imported_user(
    fields: dict[str, Any],
    *,
    source: str,
    foreign_id: str,
    encoded: str = "",
    bounds: Bounds = imported_hashes.IMPORT_BOUNDS,
) -> User:
    """Return an unsaved user of another system.

    ``fields`` are valid fields of a user. The operator vouches for an address, as an administrator does,
    unless its verified flag is false: it is then unproven. ``encoded`` is a hash of ``imported_hashes``. It
    is ignored if there is a field ``password_hash``, which may cost what ``bounds`` allow.

    Raises:
        Invalid: a field is invalid, or there is no username, email or phone.

    """
    if not is_id(foreign_id):
        raise Invalid("id", gettext_noop("must have 1 to 256 characters, none of them control characters"))
    profile = {name: fields.get(name) or "" for name in ("username", "email", "phone", "name")}
    if not any(profile[kind] for kind in Kind):
        raise Invalid("username", gettext_noop("is required unless there is an email or phone"))
    for kind in ADDRESS_KINDS:
        if fields.get(f"{kind}_verified") and not profile[kind]:
            raise Invalid(f"{kind}_verified", addresses.WITHOUT_ADDRESS[kind])
    user = users.new_user(
        **profile,
        password="",
        verified={kind for kind in Kind if profile[kind] and fields.get(f"{kind}_verified")},
    )
    addresses.set_proven(user, {kind for kind in ADDRESS_KINDS if fields.get(f"{kind}_verified", True)})
    # Otherwise the members API would take an account with an unproven phone for one that it created.
    user.self_registered = any(getattr(user, f"{kind}_proven") is False for kind in ADDRESS_KINDS)
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


def get_imported_users(source: str, among: Collection[str] | None = None) -> dict[str, Traits]:
    """Return the traits of imported users by their ids in the source system.

    ``among`` limits the search to some ids. Each user takes about 300 bytes of memory.
    """
    rows = User.objects.filter(custom_data__imported__from=source)
    if among is not None:
        rows = rows.filter(custom_data__imported__id__in=list(among))
    # As text: SQLite converts an id that looks like a number.
    found = rows.values_list(
        KT("custom_data__imported__id"), "username_key", "email_key", "phone_key", "created_at"
    )
    names = (*Kind, "created_at")
    return {
        foreign_id: _hash_traits(dict(zip(names, values, strict=True)))
        for foreign_id, *values in found.iterator()
    }


def get_traits(fields: Mapping[str, Any]) -> Traits:
    """Return the traits of a user with these fields, which may be invalid."""
    traits: dict[str, object] = {
        kind: _GET_KEY[kind](str(value).strip()) for kind in Kind if (value := fields.get(kind))
    }
    return _hash_traits({**traits, "created_at": fields.get("created_at")})


def _hash_traits(traits: Mapping[str, object]) -> Traits:
    return tuple(hash((str(name), value)) for name, value in traits.items() if value)


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


@dataclass(slots=True)
class HeldKeys:
    """The keys of identifiers that users have, each with whether its user has proven the identifier."""

    _proven: dict[Kind, dict[str, bool]] = field(default_factory=lambda: {kind: {} for kind in Kind})

    def add(self, user: User) -> None:
        """Add the keys of a user."""
        for kind, key in user.get_identifier_keys().items():
            self._proven[kind][key] = _is_kept(user, kind)

    def add_holders(self, new_users: Iterable[User]) -> None:
        """Add the keys of stored users who have an identifier of a new user, unless they are held."""
        wanted: dict[Kind, list[str]] = {kind: [] for kind in Kind}
        for user in new_users:
            for kind, key in user.get_identifier_keys().items():
                wanted[kind].append(key)
        for kind, keys in wanted.items():
            for holder in User.objects.filter(**{f"{kind}_key__in": keys}) if keys else ():
                self._proven[kind].setdefault(getattr(holder, f"{kind}_key"), _is_kept(holder, kind))

    def has_any(self, user: User) -> bool:
        """Return whether one of the keys of a user is held."""
        return any(key in self._proven[kind] for kind, key in user.get_identifier_keys().items())

    def find_conflict(self, user: User) -> Kind | None:
        """Return a kind of identifier that the user cannot have, or None.

        A proven address can be taken from a holder who has not proven it.
        """
        for kind, key in user.get_identifier_keys().items():
            is_proven = self._proven[kind].get(key)
            if is_proven or (is_proven is False and not _is_kept(user, kind)):
                return kind
        return None


def _is_kept(user: User, kind: Kind) -> bool:
    """Return whether no proof by another user takes the identifier away. Usernames are never proven."""
    return kind is Kind.USERNAME or user.has_proven(kind)


def split_conflicts(
    new_users: Iterable[User], held: HeldKeys | None = None
) -> tuple[list[User], list[tuple[User, Invalid]]]:
    """Return the users who can have their identifiers, and those who cannot, each with the reason.

    ``held`` are keys of users who are not stored. The keys of the accepted users are added to it.
    """
    new_users = list(new_users)
    held = held or HeldKeys()
    held.add_holders(new_users)
    accepted: list[User] = []
    refused: list[tuple[User, Invalid]] = []
    for user in new_users:
        if conflict := held.find_conflict(user):
            refused.append((user, Invalid(conflict, gettext_noop("already exists"))))
            continue
        accepted.append(user)
        held.add(user)
    return accepted, refused


@transaction.atomic
def _insert(new_users: list[User]) -> list[tuple[User, Invalid]]:
    """Insert the users whose identifiers are free, and return the others."""
    tenants.lock()  # imports of the same users in different orders would wait for each other: a deadlock
    accepted, refused = split_conflicts(new_users)
    for group in _group(accepted):
        ownership.release_to_many(group)
        User.objects.bulk_create(group)
    log.record_all(
        Event.USER_CREATE,
        (
            {"id": user.pk, "username": user.username, "imported_from": user.custom_data[MARK]["from"]}
            for user in accepted
        ),
    )
    return refused


def _group(accepted: list[User]) -> Iterator[list[User]]:
    """Yield the users in groups. A user who takes an address from an earlier user is in a later group."""
    group: list[User] = []
    held = HeldKeys()
    for user in accepted:
        if held.has_any(user):
            yield group
            group, held = [], HeldKeys()
        group.append(user)
        held.add(user)
    yield group
