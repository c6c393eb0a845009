"""Creating, changing, suspending and deleting users."""

from copy import copy
from typing import Any

from django.db import transaction
from django.db.models import F

from audit.events import Event
from identity.core import records
from identity.users import (
    addresses,
    code_factors,
    credentials,
    dummy_hashes,
    former_emails,
    identifiers,
    imported_hashes,
    ownership,
    passwords,
)
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.profile import Profile, merge, merge_into


def create(  # noqa: PLR0913 - one parameter for each field
    *,
    username: str,
    password: str = "",
    password_hash: str = "",
    name: str = "",
    email: str = "",
    phone: str = "",
    email_verified: bool | None = None,
    phone_verified: bool | None = None,
    avatar: str | None = None,
    profile: Profile | None = None,
    custom_data: dict[str, object] | None = None,
    is_vouched_for: bool = True,
) -> User:
    """Create a user. Email and phone are proven if the caller vouches for them.

    If they are proven, an account that has one of them unproven loses it. ``password_hash`` is a hash of
    another system, instead of a password. With it, a flag that is false says that the other system has not
    verified the address: it is unproven.

    Raises:
        Invalid: a field breaks a rule, or another user of this tenant has the identifier.
        addresses.MayNotVerify: an address is to be verified, but the caller does not vouch for it.
        passwords.Busy: the hashing queue is full.

    """
    if (email_verified or phone_verified) and not is_vouched_for:
        raise addresses.MayNotVerify
    user = User(name=name, avatar=avatar, profile=merge({}, profile or {}), custom_data=custom_data or {})
    addresses.set_identifiers(user, username=identifiers.clean_username(username), email=email, phone=phone)
    flags = {Kind.EMAIL: email_verified, Kind.PHONE: phone_verified}
    unproven = {kind for kind in flags if not is_vouched_for or (password_hash and flags[kind] is False)}
    proven = flags.keys() - unproven
    addresses.set_proven(user, proven)
    addresses.set_flags(user, {f"{kind}_verified": bool(flag) for kind, flag in flags.items()})
    user.password = (
        imported_hashes.normalize(password_hash) if password_hash else credentials.hash_new_password(password)
    )
    with transaction.atomic():
        ownership.release(proven, to=user)
        records.create(user, event=Event.USER_CREATE, username=user.username)
    if password_hash:
        dummy_hashes.recount()
    return user


def new_user(  # noqa: PLR0913 - one parameter for each field
    *, username: str, email: str, phone: str, name: str, password: str, verified: set[Kind]
) -> User:
    """Return an unsaved user who registers. ``verified`` are the kinds of the proven identifiers.

    Raises:
        Invalid: a field breaks a rule.
        passwords.Busy: the hashing queue is full.

    """
    user = User(
        name=name,
        self_registered=True,
        email_verified=Kind.EMAIL in verified,
        phone_verified=Kind.PHONE in verified,
    )
    username = identifiers.clean_username(username) if username else ""
    addresses.set_identifiers(user, username=username, email=email, phone=phone)
    addresses.set_proven(user, verified)
    user.password = passwords.hash_password(password) if password else ""
    return user


@transaction.atomic
def add(user: User) -> None:
    """Insert a user of ``new_user``. The caller writes the audit entry.

    An account that has a proven identifier of the user unproven loses it.

    Raises:
        Invalid: another user of this tenant has an identifier.

    """
    ownership.release((kind for kind in identifiers.ADDRESS_KINDS if user.has_proven(kind)), to=user)
    with records.refusing_duplicates(user):
        user.save(force_insert=True)


@transaction.atomic
def change(
    user: User,
    fields: dict[str, Any],
    *,
    proven: Kind | None = None,
    expected: frozenset[int] | None = None,
    is_proven: bool,
) -> None:
    """Change the identifiers, verified flags, name, avatar, profile or custom data of a user.

    ``proven`` is the kind of identifier that the user has just verified. Without it an administrator makes
    the change. A new email or phone is then proven, and unverified unless its flag is set too. An account
    without an owner gets a new owner by a new address or flag. An account that has the new identifier
    unproven loses it. ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        Invalid: a field breaks a rule, or another user of this tenant has the identifier.
        TokenTooOld: codes to a changed address are a second factor, and ``is_proven`` is false.
        records.Stale: the user was changed since the caller read it.

    """
    claimed = User(pk=user.pk, email=user.email)
    addresses.set_identifiers(
        claimed, username="", email=fields.get("email", ""), phone=fields.get("phone", "")
    )
    ownership.lock_with_holders(claimed)
    # ``search_text`` and the keys depend on all fields, also on those that this change does not set.
    records.lock(user, expected)
    user.refresh_from_db()
    before = copy(user)
    fields = merge_into(user.profile, fields)
    for name in fields.keys() & {"name", "avatar", "profile", "custom_data"}:
        setattr(user, name, fields[name])
    if not fields.keys().isdisjoint(Kind):
        addresses.set_identifiers(
            user,
            username=identifiers.clean_username(fields["username"])
            if "username" in fields
            else user.username,
            email=fields.get("email", user.email),
            phone=fields.get("phone", user.phone),
        )
    user.search_text = user.fold_for_search()
    changed = addresses.set_changed(user, before, proven=proven)
    addresses.set_flags(user, fields)
    code_factors.check(user, before, is_proven=is_proven)
    ownership.release({*changed, *([proven] if proven else [])}, to=user)
    columns = {name: getattr(user, name) for name in {*fields, *addresses.COLUMNS}}
    records.change(
        user,
        columns,
        event=Event.USER_UPDATE,
        expected=expected,
        changed_fields=sorted(fields),
        old_values={name: getattr(before, name) for name in columns},
        **addresses.get_flag_facts(user, before, fields),
    )
    former_emails.keep_replaced(before, user)
    new_proofs = addresses.find_new_proofs(user, before)
    if proven is None and new_proofs and ownership.is_unowned(before):
        ownership.take_over(user, new_proofs)


def create_from_provider(*, name: str, email: str, avatar: str | None) -> User:
    """Create a user without a password, from an external provider that verified the email.

    An account that has the email unproven loses it.

    Raises:
        Invalid: the email breaks a rule, or another user of this tenant has it.

    """
    user = User(name=name, avatar=avatar, email_verified=bool(email))
    addresses.set_identifiers(user, username="", email=email, phone="")
    addresses.set_proven(user, [Kind.EMAIL])
    with transaction.atomic():
        ownership.release([Kind.EMAIL], to=user)
        records.create(user, event=Event.USER_CREATE, email=user.email)
    return user


def suspend(user: User, *, expected: frozenset[int] | None = None) -> None:
    """Suspend a user, which ends all sessions and refresh tokens at once."""
    _change_suspension(user, {"is_suspended": True, "epoch": F("epoch") + 1}, expected)


def reactivate(user: User, *, expected: frozenset[int] | None = None) -> None:
    """Let a suspended user sign in again. The sessions and refresh tokens that ended stay ended."""
    _change_suspension(user, {"is_suspended": False}, expected)


def _change_suspension(user: User, fields: dict[str, Any], expected: frozenset[int] | None) -> None:
    records.change(user, fields, event=Event.USER_UPDATE, expected=expected, changed_fields=["is_suspended"])


def remove(user: User, *, expected: frozenset[int] | None = None) -> None:
    """Delete a user with all their data, sessions and tokens."""
    records.remove(user, event=Event.USER_DELETE, expected=expected, username=user.username)
