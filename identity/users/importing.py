"""Taking over the people of another system: many at a time, each of them once.

Who comes from where is kept in ``custom_data["imported"]``, so that an import that was
interrupted can be repeated.
"""

from collections.abc import Iterable
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models.fields.json import KT

from audit import log
from audit.events import Event
from identity.core.errors import Invalid
from identity.users import imported_hashes, ownership
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User

MARK: Final = "imported"
_LONGEST_ID: Final = 256
_TRIES: Final = 3


def prepared(fields: dict[str, Any], *, source: str, foreign_id: str, encoded: str = "") -> User:
    """Return a user who comes from elsewhere: not stored yet.

    ``fields`` were checked as those of a user are. ``encoded`` is a hash that somebody found
    acceptable already; otherwise ``password_hash`` is looked at, if there is one.

    Raises:
        Invalid: a field breaks a rule, or there is nothing to know the user by.

    """
    if not 1 <= len(foreign_id) <= _LONGEST_ID or not foreign_id.isprintable():
        raise Invalid("id", "must have 1 to 256 characters, none of them control characters")
    given = {name: fields.get(name) or "" for name in ("username", "email", "phone", "name")}
    if not any(given[kind] for kind in Kind):
        raise Invalid("username", "is required, or else email or phone")
    user = users.registered(
        **given,
        password="",
        verified={kind for kind in Kind if given[kind] and fields.get(f"{kind}_verified")},
    )
    user.self_registered = False
    # The operator who runs the import vouches for what it holds, as an administrator does.
    user.email_proven, user.phone_proven = bool(user.email) or None, bool(user.phone) or None
    user.avatar = fields.get("avatar") or None
    user.is_suspended = fields.get("is_suspended", False)
    user.custom_data = fields.get("custom_data", {}) | {MARK: {"from": source, "id": foreign_id}}
    if created_at := fields.get("created_at"):
        user.created_at = created_at
    if password_hash := fields.get("password_hash"):
        encoded = imported_hashes.acceptable(password_hash, imported_hashes.OF_IMPORTS)
    user.password = encoded
    return user


def known(source: str) -> set[str]:
    """Return the ids that users who came from a source have there: some hundred bytes for each."""
    rows = User.objects.filter(custom_data__imported__from=source)
    # As text: SQLite would make a number of an id that looks like one.
    return set(rows.values_list(KT("custom_data__imported__id"), flat=True).iterator())


def add(people: list[User]) -> list[tuple[User, Invalid]]:
    """Store people whom ``prepared`` made, with their audit entries, in one transaction.

    Returns those who are refused because somebody else has an identifier of theirs.
    """
    for attempt in range(_TRIES):
        fresh, refused = apart(people)
        try:
            _insert(fresh)
        except IntegrityError:
            # Somebody registered at this moment: they are seen when it is asked again.
            if attempt == _TRIES - 1:
                raise
        else:
            return refused
    return []


def apart(people: Iterable[User]) -> tuple[list[User], list[tuple[User, Invalid]]]:
    """Tell those whose identifiers are free from those who are refused, here and among themselves."""
    people = list(people)
    taken = {kind: _taken(kind, people) for kind in Kind}
    fresh: list[User] = []
    refused: list[tuple[User, Invalid]] = []
    for user in people:
        keys = {kind: getattr(user, f"{kind}_key") for kind in Kind}
        clash = next((kind for kind, key in keys.items() if key is not None and key in taken[kind]), None)
        if clash is not None:
            refused.append((user, Invalid(clash, "already exists")))
            continue
        fresh.append(user)
        for kind, key in keys.items():
            taken[kind].add(key)
    return fresh, refused


def _taken(kind: Kind, people: list[User]) -> set[str | None]:
    name = f"{kind}_key"
    keys = [key for user in people if (key := getattr(user, name)) is not None]
    known = User.objects.filter(**{f"{name}__in": keys}) if keys else User.objects.none()
    # An address that somebody holds unproven goes to who is imported with it.
    return {getattr(user, name) for user in known if kind is Kind.USERNAME or user.has_proven(kind)}


@transaction.atomic
def _insert(people: list[User]) -> None:
    ownership.release_to_many(people)
    User.objects.bulk_create(people)
    log.record_all(
        Event.USER_CREATE,
        (
            {"id": user.pk, "username": user.username, "imported_from": user.custom_data[MARK]["from"]}
            for user in people
        ),
    )
