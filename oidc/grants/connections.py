"""The applications that a user let in, and taking that back."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Event
from identity.core import ids
from identity.core.errors import ServiceError
from identity.users.models import User
from oidc.applications.models import Application
from oidc.grants import families
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily


class NotConnected(ServiceError):
    """The user let no such application in."""

    status = 404
    reason = "application_not_connected"
    message = "the application is not connected"


@dataclass(slots=True)
class Connection:
    """An application, what it may do, and since when; ``last_used_at`` is unset if it never came back."""

    application: Application
    since: datetime
    scopes: set[str] = field(default_factory=set)
    organizations: set[str] = field(default_factory=set)
    last_used_at: datetime | None = None


def of(user: User) -> list[Connection]:
    """Return the applications that the user agreed to or that stay connected, by name. Two queries."""
    found: dict[UUID, Connection] = {}
    for consent in Consent.objects.filter(user=user).select_related("application"):
        known = Connection(consent.application, consent.created_at)
        known.scopes.update(consent.scopes)
        known.organizations.update(consent.organizations)
        found[consent.application_id] = known
    for family in RefreshFamily.objects.live().filter(user=user).select_related("application"):
        known = found.setdefault(family.application_id, Connection(family.application, family.created_at))
        known.since = min(known.since, family.created_at)
        known.scopes.update(family.scope.split())
        known.last_used_at = max(known.last_used_at or family.rotated_at, family.rotated_at)
    return sorted(found.values(), key=lambda connection: connection.application.name.casefold())


@transaction.atomic
def revoke(user: User, application_id: str) -> Application:
    """Take back all that a user let an application have: consent, refresh tokens and their access tokens.

    The id is as a client sent it.

    Raises:
        NotConnected: there was nothing to take back, or it is no id at all.

    """
    pk = ids.parse(application_id)
    application = Application.objects.filter(pk=pk).first() if pk else None
    if application is None:
        raise NotConnected
    consents, _ = Consent.objects.filter(user=user, application=application).delete()
    # Codes first: one that is being redeemed at this moment has its family by the time they are read.
    AuthorizationCode.objects.filter(user=user, application=application, consumed_at=None).delete()
    connected = list(RefreshFamily.objects.live().filter(user=user, application=application))
    if not consents and not connected:
        raise NotConnected
    for family in connected:
        families.end(family.pk, reason="consent_revoked", user_id=user.pk, application_id=application.pk)
    log.record(Event.CONSENT_REVOKE, user_id=user.pk, application_id=application.pk, families=len(connected))
    return application
