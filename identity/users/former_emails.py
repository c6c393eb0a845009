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


def keep(before: User) -> None:
    """Keep the proven email of a user who now has another one or none."""
    if before.email_key and before.has_proven(Kind.EMAIL):
        FormerEmail.objects.create(
            user=before, email=before.email, email_key=before.email_key, replaced_at=DatabaseNow()
        )


def find(user: User) -> list[str]:
    """Return the first three emails that a user had within the last week, if no user has them now."""
    former: dict[str, str] = dict(_of_user.all(user_id=user.pk))
    if not former:
        return []
    taken = set(User.objects.filter(email_key__in=former).values_list("email_key", flat=True))
    return [email for key, email in former.items() if key not in taken]


def _end(user: User) -> None:
    FormerEmail.objects.filter(user=user).delete()


USER_DATA: Final = [
    UserData(model="users.FormerEmail", reason="the address was the previous owner's", end=_end)
]
