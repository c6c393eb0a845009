"""Former emails of users, which get notices for a week, because an attacker may have changed the email."""

from typing import Final

from database.clock import DatabaseNow, seconds_ahead
from identity.core.tenant_statements import SelectValues, uuid
from identity.users.identifiers import Kind
from identity.users.models import FormerEmail, User
from identity.users.user_data import UserData

SECONDS: Final = 7 * 24 * 3600
# The earliest, because an attacker can add later ones. Each notice is stored once for each of them.
_MOST: Final = 3

_of_user: Final = SelectValues(
    lambda: (
        FormerEmail.objects.filter(user_id=uuid("user_id"), replaced_at__gt=seconds_ahead(-SECONDS))
        .order_by("replaced_at")
        .values_list("email_key", "email")[:_MOST]
    )
)


def keep_replaced(before: User, user: User) -> None:
    """Keep the proven email of a user who now has another one or none."""
    if before.email_key and before.has_proven(Kind.EMAIL) and not _is_same(before.email, user.email):
        FormerEmail.objects.create(
            user=before, email=before.email, email_key=before.email_key, replaced_at=DatabaseNow()
        )


def find(user: User) -> list[str]:
    """Return the first three emails that a user had within the last week, if nobody has proven them now."""
    former = _of_user.all(user_id=user.pk)
    if not former:
        return []
    holders = User.objects.filter(email_key__in={key for key, _ in former})
    taken = [holder.email for holder in holders if holder.has_proven(Kind.EMAIL)]
    emails = dict.fromkeys(email for _, email in former)
    return [email for email in emails if not any(_is_same(email, other) for other in taken)]


def _is_same(email: str, other: str) -> bool:
    """Return whether two emails differ at most in case. Two mailboxes can have the same key."""
    return email.lower() == other.lower()


def _end(user: User) -> None:
    FormerEmail.objects.filter(user=user).delete()


USER_DATA: Final = [
    UserData(model="users.FormerEmail", reason="the address was the previous owner's", end=_end)
]
