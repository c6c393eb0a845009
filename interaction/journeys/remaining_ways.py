"""What can still sign in to an account after a new password: linked accounts and passkeys."""

from django.utils import formats
from django.utils.translation import gettext

from identity.factors.models import Passkey
from identity.users.factor_bits import PASSKEY
from identity.users.models import User
from interaction.social import services as identities


def describe(user: User) -> str:
    """Return a user's linked accounts and passkeys in the active language; an empty string for none.

    Names that users choose are left out, because a thief could write an instruction to the owner there.
    """
    accounts = [
        f"{identity.provider_name} ({identity.email})" if identity.email else identity.provider_name
        for identity in identities.find_by_user(user)
    ]
    return ", ".join([*accounts, *_describe_passkeys(user)])


def _describe_passkeys(user: User) -> list[str]:
    if not user.factors & PASSKEY:
        return []
    made = Passkey.objects.filter(user=user).order_by("created_at", "pk").values_list("created_at", flat=True)
    text = gettext("a passkey created on %(date)s")
    return [text % {"date": formats.date_format(time, "j M Y")} for time in made]
