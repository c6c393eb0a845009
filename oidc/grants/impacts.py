"""The refresh tokens and consents that end with users and applications: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from oidc.grants.models import Consent, RefreshFamily

_END: Final = ("refresh token ends", "refresh tokens end")

LOSSES: Final = [
    Loss(
        "users.User", Verb.END, "refresh_families",
        lambda user: RefreshFamily.objects.live().filter(user=user), *_END,
    ),
    Loss(
        "applications.Application", Verb.END, "refresh_families",
        lambda application: RefreshFamily.objects.live().filter(application=application), *_END,
    ),
    Loss(
        "users.User", Verb.DELETE, "consents", lambda user: Consent.objects.filter(user=user),
        "application loses the user's consent", "applications lose the user's consent",
    ),
    Loss(
        "applications.Application", Verb.DELETE, "consents",
        lambda application: Consent.objects.filter(application=application),
        "consent of a user is deleted", "consents of users are deleted",
    ),
]  # fmt: skip
