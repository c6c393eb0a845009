"""What users lose of their linked accounts: see ``identity.core.impacts``."""

from typing import Final

from django.db.models import QuerySet
from django.utils.translation import ngettext_lazy

from identity.core.impacts import Loss, Verb
from interaction.connectors.models import Connector
from interaction.social.models import SocialIdentity


def _without_connector(connector: Connector) -> QuerySet[SocialIdentity]:
    """Return the accounts at a provider, unless another enabled connector leads to it."""
    others = Connector.objects.filter(connector_id=connector.connector_id, type=connector.type, enabled=True)
    if connector.type != Connector.Type.SOCIAL or others.exclude(pk=connector.pk).exists():
        return SocialIdentity.objects.none()
    return SocialIdentity.objects.filter(connector_id=connector.connector_id)


LOSSES: Final = [
    Loss(
        "users.User",
        Verb.DELETE,
        "linked_accounts",
        lambda user: SocialIdentity.objects.filter(user=user),
        ngettext_lazy(
            "%(number)s linked account is forgotten", "%(number)s linked accounts are forgotten", "count"
        ),
    ),
    Loss(
        "connectors.Connector",
        Verb.DETACH,
        "linked_accounts",
        _without_connector,
        ngettext_lazy(
            "%(number)s linked account can no longer be used to sign in",
            "%(number)s linked accounts can no longer be used to sign in",
            "count",
        ),
    ),
]
