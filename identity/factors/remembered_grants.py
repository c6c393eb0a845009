"""Ending what remembered browsers were granted: ``settings.END_REMEMBERED_GRANTS`` names the function."""

from django.conf import settings
from django.utils.module_loading import import_string

from identity.users.models import User


def end(user: User) -> None:
    """End what remembered browsers of a user were granted because no second factor was asked for.

    Call it in the transaction that forgets the browsers. Browsers beyond the limit have no row any more. What
    they were granted ends only here.
    """
    import_string(settings.END_REMEMBERED_GRANTS)(user)
