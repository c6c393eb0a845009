"""Locks on the rows of users, which put changes of one user in order."""

from uuid import UUID

from django.db.models import QuerySet

from identity.users.models import User


def lock(user: User) -> None:
    """Lock the row of a user until the transaction ends. Inserts of rows that refer to it need not wait."""
    list(_lock(user.pk).values_list("pk"))


def lock_factors(user: User) -> int:
    """Lock the row of a user, and return the bits of the user's current factors; 0 for a deleted user."""
    return _lock(user.pk).values_list("factors", flat=True).first() or 0


def lock_current(pk: UUID) -> User | None:
    """Lock the row of a user, and return the user as it is now; None for a deleted user."""
    return _lock(pk).first()


def _lock(pk: UUID) -> QuerySet[User]:
    return User.objects.select_for_update(no_key=True).filter(pk=pk)
