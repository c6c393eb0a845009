"""Linked accounts when a user's account changes its owner."""

from typing import Final

from django.db.models import Exists, OuterRef

from identity.users.models import User
from identity.users.user_data import UserData
from interaction.social import services
from interaction.social.models import SocialIdentity


def _end(user: User) -> None:
    SocialIdentity.objects.filter(user=user).delete()


USER_DATA: Final = [
    UserData(
        model="social.SocialIdentity",
        reason="the previous owner could sign in with an account that they linked",
        end=_end,
        remove_ways=services.unlink_all,
        evidence=lambda: Exists(SocialIdentity.objects.filter(user=OuterRef("pk"))),
    ),
]
