"""Finding the user of a phone, and creating the user if there is none."""

from dataclasses import dataclass

from django.db import transaction

from audit.events import Event
from identity.core import records
from identity.core.errors import Invalid
from identity.users import addresses, ownership
from identity.users.identifiers import Kind
from identity.users.models import User


@dataclass(frozen=True, slots=True)
class UserByPhone:
    """The user of a phone. If ``was_taken``, the user is new, and another account has lost the phone."""

    user: User
    is_new: bool
    was_taken: bool = False

    @property
    def affects_existing_users(self) -> bool:
        """Whether the lookup revealed or changed an existing account."""
        return self.was_taken or not self.is_new


@transaction.atomic
def find_or_create(*, phone: str, name: str, email: str) -> UserByPhone:
    """Return the user of a phone, and create the user if necessary. Parallel calls create only one.

    An existing user has proven the phone, or was created by an earlier call and has no owner yet. Any other
    account with this phone loses it to the new user, whose identifiers are unproven.

    Raises:
        Invalid: the phone or the email is invalid, or another user has the email.

    """
    user = User(name=name)
    addresses.set_identifiers(user, username="", email=email, phone=phone)
    if not user.phone or user.phone_key is None:
        raise Invalid("phone", "must be 5 to 15 digits, with an optional leading +")
    addresses.set_proven(user, ())
    known = ownership.lock_unclaimed(Kind.PHONE, user.phone_key)
    if known is not None:
        return UserByPhone(known, is_new=False)
    try:
        with transaction.atomic():
            was_taken = ownership.release([Kind.PHONE], to=user)
            records.create(user, event=Event.USER_CREATE, phone=user.phone)
    except Invalid:
        known = ownership.lock_unclaimed(Kind.PHONE, user.phone_key)
        if known is None:
            raise
        return UserByPhone(known, is_new=False)
    return UserByPhone(user, is_new=True, was_taken=was_taken)
