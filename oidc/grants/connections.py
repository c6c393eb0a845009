"""The applications that have access to a user's account, and how the user revokes it."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min, QuerySet
from django.utils.translation import gettext_noop

from audit import log
from audit.events import Event
from database import ids
from identity.core.errors import ServiceError
from identity.users import row_locks
from identity.users.models import User
from oidc.applications import lifetimes
from oidc.applications.models import Application
from oidc.grants import revocations
from oidc.grants.models import Consent, ConsentTarget, RefreshFamily


class NotConnected(ServiceError):
    """The application has no access to the user's account, or none to this target."""

    status = 404
    reason = "application_not_connected"
    message = gettext_noop("the application is not connected")


@dataclass(slots=True)
class Connection:
    """The access of an application to a user's account.

    ``scopes`` are those that belong to no target; ``targets`` are the APIs and organizations of the consent.
    ``last_used_at`` is unset without a refresh token.
    """

    application: Application
    since: datetime
    scopes: set[str] = field(default_factory=set)
    targets: list[ConsentTarget] = field(default_factory=list)
    last_used_at: datetime | None = None


def find_usable_families(user: User) -> QuerySet[RefreshFamily]:
    """Return the families of a user whose refresh token works, or whose access token may not have expired."""
    return RefreshFamily.objects.live().filter(lifetimes.are_kept() | lifetimes.may_have_access(), user=user)


def get_connections(user: User) -> list[Connection]:
    """Return the applications with a consent or usable tokens of the user, in four queries, by name."""
    connections: dict[UUID, Connection] = {}
    consents = Consent.objects.filter(user=user).select_related("application").prefetch_related("targets")
    for consent in consents:
        targets = sorted(consent.targets.all(), key=lambda target: (target.created_at, target.pk))
        connections[consent.application_id] = Connection(
            consent.application, consent.created_at, set(consent.scopes), targets
        )
    _add_families(connections, user)
    return sorted(connections.values(), key=lambda each: each.application.name.casefold())


def count_connections(user: User) -> int:
    """Return how many applications ``get_connections`` returns, in one query."""
    # Without a consent, the tokens of a third party are refused.
    of_families = (
        find_usable_families(user).filter(application__is_third_party=False).values_list("application_id")
    )
    return of_families.union(Consent.objects.filter(user=user).values_list("application_id")).count()


def _add_families(connections: dict[UUID, Connection], user: User) -> None:
    """Add the user's usable families, of which the database returns one row for each distinct scope."""
    rows = (
        find_usable_families(user)
        .values("application_id", "scope")
        .annotate(since=Min("created_at"), last_used_at=Max("rotated_at"))
    )
    missing = {row["application_id"] for row in rows} - connections.keys()
    # Without a consent, the tokens of a third party are refused.
    added = Application.objects.filter(pk__in=missing, is_third_party=False).in_bulk() if missing else {}
    for row in rows:
        pk, since, last_used_at = row["application_id"], row["since"], row["last_used_at"]
        if pk in added:
            connections.setdefault(pk, Connection(added[pk], since))
        if (connection := connections.get(pk)) is None:
            continue
        connection.since = min(connection.since, since)
        if not connection.application.is_third_party:
            connection.scopes.update(row["scope"].split())
        connection.last_used_at = max(connection.last_used_at or last_used_at, last_used_at)


@transaction.atomic
def revoke(user: User, application_id: str) -> Application:
    """Revoke an application's access to a user's account: consent, codes, refresh and access tokens.

    The id is unparsed input.

    Raises:
        NotConnected: there was nothing to revoke, or the id is malformed.

    """
    application = _get_application(application_id)
    row_locks.lock(user)  # first, as a change of the account's owner does
    had_consent, ended = _end(user, application)
    if not had_consent and not ended:
        raise NotConnected
    log.record(Event.CONSENT_REVOKE, user_id=user.pk, application_id=application.pk, families=ended)
    return application


@transaction.atomic
def revoke_target(user: User, application_id: str, target_id: str) -> Application:
    """Revoke an application's access to one API or one organization of a user.

    The application keeps its refresh tokens, but gets no more access tokens for this target. Gatehouse's own
    endpoints refuse its access tokens of an organization at once.

    Raises:
        NotConnected: the user's consent has no such target.

    """
    application = _get_application(application_id)
    row_locks.lock(user)
    consent = Consent.objects.select_for_update().filter(user=user, application=application).first()
    pk = ids.parse(target_id)
    targets = list(consent.targets.all()) if consent else []
    target = next((row for row in targets if row.pk == pk), None)
    if consent is None or target is None:
        raise NotConnected
    target.delete()
    facts = (
        {"resource_id": target.resource_id}
        if target.resource_id
        else {"organization_id": target.organization_id}
    )
    log.record(Event.CONSENT_REVOKE, user_id=user.pk, application_id=application.pk, **facts)
    return application


def _end(user: User, application: Application) -> tuple[bool, int]:
    """End consent, codes and families. Return whether there was a consent, and how many families ended."""
    _, deleted = Consent.objects.filter(user=user, application=application).delete()
    ended = revocations.end_for_user(user, reason="consent_revoked", application=application)
    return bool(deleted.get(Consent._meta.label)), ended


def _get_application(application_id: str) -> Application:
    """Return an application by its unparsed id.

    Raises:
        NotConnected: there is none.

    """
    pk = ids.parse(application_id)
    application = Application.objects.filter(pk=pk).first() if pk else None
    if application is None:
        raise NotConnected
    return application
