"""The factors that are lost with a user: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from identity.factors.models import Authenticator, Passkey

LOSSES: Final = [
    Loss(
        "users.User",
        Verb.DELETE,
        "passkeys",
        lambda user: Passkey.objects.filter(user=user),
        ngettext_lazy("%(number)s passkey is forgotten", "%(number)s passkeys are forgotten", "count"),
    ),
    Loss(
        "users.User",
        Verb.DELETE,
        "authenticators",
        lambda user: Authenticator.objects.filter(user=user),
        ngettext_lazy(
            "%(number)s authenticator is forgotten", "%(number)s authenticators are forgotten", "count"
        ),
    ),
]
