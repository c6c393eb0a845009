"""The refresh tokens and consents that end with users and applications: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from oidc.grants.models import Consent, RefreshFamily

_END: Final = ngettext_lazy("%(number)s refresh token ends", "%(number)s refresh tokens end", "count")

LOSSES: Final = [
    Loss(
        "users.User",
        Verb.END,
        "refresh_families",
        lambda user: RefreshFamily.objects.refreshable().filter(user=user),
        _END,
    ),
    Loss(
        "applications.Application",
        Verb.END,
        "refresh_families",
        lambda application: RefreshFamily.objects.refreshable().filter(application=application),
        _END,
    ),
    Loss(
        "users.User",
        Verb.DELETE,
        "consents",
        lambda user: Consent.objects.filter(user=user),
        ngettext_lazy(
            "%(number)s application loses the user's consent",
            "%(number)s applications lose the user's consent",
            "count",
        ),
    ),
    Loss(
        "applications.Application",
        Verb.DELETE,
        "consents",
        lambda application: Consent.objects.filter(application=application),
        ngettext_lazy(
            "%(number)s consent of a user is deleted", "%(number)s consents of users are deleted", "count"
        ),
    ),
]
