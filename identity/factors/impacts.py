"""The factors that are lost with a user: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from identity.factors.models import Authenticator, Passkey

LOSSES: Final = [
    Loss(
        "users.User", Verb.DELETE, "passkeys", lambda user: Passkey.objects.filter(user=user),
        "passkey is forgotten", "passkeys are forgotten",
    ),
    Loss(
        "users.User", Verb.DELETE, "authenticators", lambda user: Authenticator.objects.filter(user=user),
        "authenticator is forgotten", "authenticators are forgotten",
    ),
]  # fmt: skip
