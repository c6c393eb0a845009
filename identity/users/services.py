"""What is done to users."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid
from identity.users import (
    credentials,
    dummy_hashes,
    identifiers,
    imported_hashes,
    new_emails,
    ownership,
    passwords,
)
from identity.users.identifiers import Kind
from identity.users.models import User


def create(  # noqa: PLR0913 - one parameter a field
    *,
    username: str,
    password: str = "",
    password_hash: str = "",
    name: str = "",
    email: str = "",
    phone: str = "",
    avatar: str | None = None,
    custom_data: dict[str, object] | None = None,
    is_vouched_for: bool = True,
) -> User:
    """Create a user whom an administrator vouches for; email and phone are proven, and unverified.

    An account that holds one of them unproven loses it. Where nobody vouches they stay unproven.

    Instead of a password its hash may be given, as another system stored it.

    Raises:
        Invalid: a field breaks a rule or belongs to somebody else in this tenant.
        passwords.Busy: too many passwords are being hashed at this moment.

    """
    user = User(name=name, avatar=avatar, custom_data=custom_data or {})
    _identify(user, username=identifiers.username(username), email=email, phone=phone)
    proven = ownership.ADDRESSES if is_vouched_for else ()
    _set_proven(user, proven)
    user.password = (
        imported_hashes.acceptable(password_hash)
        if password_hash
        else passwords.hashed(credentials.acceptable_password(password))
    )
    with transaction.atomic():
        ownership.release(proven, to=user)
        records.create(user, event=Event.USER_CREATE, username=user.username)
    if password_hash:
        dummy_hashes.forget()
    return user


def registered(  # noqa: PLR0913 - one parameter a field
    *, username: str, email: str, phone: str, name: str, password: str, verified: set[Kind]
) -> User:
    """Return a user who makes their own account: not stored yet, the password hashed if there is one.

    ``verified`` are the kinds of identifiers that were proven.

    Raises:
        Invalid: a field breaks a rule.
        passwords.Busy: too many passwords are being hashed at this moment.

    """
    user = User(
        name=name,
        self_registered=True,
        email_verified=Kind.EMAIL in verified,
        phone_verified=Kind.PHONE in verified,
    )
    _identify(user, username=identifiers.username(username) if username else "", email=email, phone=phone)
    _set_proven(user, verified)
    user.password = passwords.hashed(password) if password else ""
    return user


@transaction.atomic
def add(user: User) -> None:
    """Store a user whom ``registered`` made. The caller writes the audit entry.

    What the person has proven is taken from an account that holds it unproven.

    Raises:
        Invalid: an identifier belongs to somebody else in this tenant.

    """
    ownership.release((kind for kind in ownership.ADDRESSES if user.has_proven(kind)), to=user)
    with records.refusing_duplicates(user):
        user.save(force_insert=True)


@transaction.atomic
def change(
    user: User,
    fields: dict[str, Any],
    *,
    proven: Kind | None = None,
    expected: frozenset[int] | None = None,
) -> None:
    """Change what a user's row says of the person.

    A new email or phone is verified if the person has just ``proven`` it. Otherwise an administrator
    sets it, which proves it too: on an account on which nobody proved anything, that is a change of
    owner. An account that holds it unproven loses it.

    Raises:
        Invalid: a field breaks a rule or belongs to somebody else in this tenant.
        records.Stale: the user was changed since the caller read it.

    """
    claimed = User(pk=user.pk, email=user.email)
    _identify(claimed, username="", email=fields.get("email", ""), phone=fields.get("phone", ""))
    ownership.hold_with_holders(claimed)
    # What is derived of several fields is derived of the row as it is now.
    records.hold(user, expected)
    user.refresh_from_db()
    was_unowned = proven is None and not fields.keys().isdisjoint(ownership.ADDRESSES)
    was_unowned = was_unowned and ownership.is_unowned(user)
    before = {kind: getattr(user, f"{kind}_key") for kind in ownership.ADDRESSES}
    _identify(
        user,
        username=identifiers.username(fields["username"]) if "username" in fields else user.username,
        email=fields.get("email", user.email),
        phone=fields.get("phone", user.phone),
    )
    for name in ("name", "avatar", "custom_data"):
        if name in fields:
            setattr(user, name, fields[name])
    columns = {name: getattr(user, name) for name in fields}
    columns["username_key"] = user.username_key
    established = {kind for kind, key in before.items() if getattr(user, f"{kind}_key") != key}
    for kind in ownership.ADDRESSES:
        columns[f"{kind}_key"] = getattr(user, f"{kind}_key")
        if kind in established or kind == proven:
            columns[f"{kind}_verified"] = kind == proven
            columns[f"{kind}_proven"] = True if getattr(user, kind) else None
    columns["search_text"] = user.fold_for_search()
    ownership.release({*established, *([proven] if proven else [])}, to=user)
    records.change(user, columns, event=Event.USER_UPDATE, expected=expected, shown=sorted(fields))
    if was_unowned and (vouched := [kind for kind in established if getattr(user, kind)]):
        ownership.take_over(user, vouched, verified=False)


@dataclass(frozen=True, slots=True)
class UserOfPhone:
    """The user of a phone; if the user is new, ``was_taken`` says that another account lost the phone."""

    user: User
    is_new: bool
    was_taken: bool = False

    @property
    def concerns_others(self) -> bool:
        """Whether finding the user told or changed something of people who were there before."""
        return self.was_taken or not self.is_new


@transaction.atomic
def find_or_create_by_phone(*, phone: str, name: str, email: str) -> UserOfPhone:
    """Return the user of a phone. Of several calls at once, one creates.

    That is who has proven the phone, or whom only an earlier call made. An account that holds the phone
    otherwise loses it to a new user. Nothing of a new user is proven.

    Raises:
        Invalid: the phone breaks a rule, or a new user's email does or is somebody else's.

    """
    user = User(name=name)
    _identify(user, username="", email=email, phone=phone)
    if not user.phone or user.phone_key is None:
        raise Invalid("phone", "must be 5 to 15 digits, with an optional leading +")
    _set_proven(user, ())
    known = ownership.hold_unclaimed(Kind.PHONE, user.phone_key)
    if known is not None:
        return UserOfPhone(known, is_new=False)
    try:
        with transaction.atomic():
            was_taken = ownership.release([Kind.PHONE], to=user)
            records.create(user, event=Event.USER_CREATE, phone=user.phone)
    except Invalid:
        known = ownership.hold_unclaimed(Kind.PHONE, user.phone_key)
        if known is None:
            raise
        return UserOfPhone(known, is_new=False)
    return UserOfPhone(user, is_new=True, was_taken=was_taken)


def create_vouched_for(*, name: str, email: str, avatar: str | None) -> User:
    """Create a user without a password, whom another provider vouches for, and for the email too.

    An account that holds the email unproven loses it.

    Raises:
        Invalid: the email breaks a rule or belongs to somebody else in this tenant.

    """
    user = User(name=name, avatar=avatar, email_verified=bool(email))
    _identify(user, username="", email=email, phone="")
    _set_proven(user, [Kind.EMAIL])
    with transaction.atomic():
        ownership.release([Kind.EMAIL], to=user)
        records.create(user, event=Event.USER_CREATE, email=user.email)
    return user


def _set_proven(user: User, proven: Collection[Kind]) -> None:
    """Say of each address of a new user whether it is proven."""
    for kind in ownership.ADDRESSES:
        setattr(user, f"{kind}_proven", kind in proven if getattr(user, kind) else None)


def _identify(user: User, *, username: str, email: str, phone: str) -> None:
    """Set identifiers with their keys, and what a search finds the user by."""
    user.username = username
    user.username_key = identifiers.fold(username) if username else None
    if email and email != user.email:
        new_emails.check(email)
    user.email = identifiers.email(email) if email else ""
    user.email_key = identifiers.fold(email) if email else None
    user.phone = identifiers.phone(phone) if phone else ""
    user.phone_key = identifiers.phone_key(user.phone) if phone else None
    user.search_text = user.fold_for_search()


def suspend(user: User, *, suspended: bool = True, expected: frozenset[int] | None = None) -> None:
    """Suspend a user, or let the user in again. Suspending ends sessions and refresh tokens at once."""
    fields: dict[str, Any] = {"is_suspended": suspended}
    if suspended:
        fields["epoch"] = F("epoch") + 1
    records.change(user, fields, event=Event.USER_UPDATE, expected=expected, shown=["is_suspended"])


def remove(user: User, *, expected: frozenset[int] | None = None) -> None:
    """Delete a user with all that is theirs; sessions and tokens die with it."""
    records.remove(user, event=Event.USER_DELETE, expected=expected, username=user.username)
