"""Locks on the rows of users, which put changes of one user in order."""

from identity.users.models import User


def lock(user: User) -> None:
    """Lock the row of a user until the transaction ends. Inserts of rows that refer to it need not wait."""
    list(User.objects.select_for_update(no_key=True).filter(pk=user.pk).values_list("pk"))
