"""The applications that the person let in."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from interaction.pages import words
from interaction.pages.views.account import shared
from oidc.grants import connections, descriptions
from oidc.grants.connections import Connection
from oidc.grants.descriptions import Described


@shared.account_page
def applications(request: HttpRequest, session: Session) -> HttpResponse:
    """Show what applications may do, and end it for the one that is named, or for one target of it."""
    if request.method == "POST":
        application_id, target_id = request.POST.get("revoke", ""), request.POST.get("target", "")
        if target_id:
            application_id, _, target_id = target_id.partition(" ")
            connections.revoke_target(session.user, application_id, target_id)
            return shared.done("pages:account-applications", "target")
        connections.revoke(session.user, application_id)
        return shared.done("pages:account-applications", "revoked")
    connected = connections.of(session.user)
    described = descriptions.describe(target for connection in connected for target in connection.targets)
    return shared.page(
        request,
        session,
        "applications",
        connected=[_described(connection, described) for connection in connected],
    )


def _described(connection: Connection, described: dict[UUID, Described]) -> dict[str, object]:
    return {
        "id": connection.application.pk,
        "name": connection.application.name,
        "is_third_party": connection.application.is_third_party,
        "scopes": words.described(words.in_order(connection.scopes)),
        "targets": [
            {"id": target.pk, **words.target(described[target.pk])}
            for target in connection.targets
            if target.pk in described
        ],
        "since": connection.since,
        "used": words.used(connection.last_used_at) if connection.last_used_at else "",
    }
