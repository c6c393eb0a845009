"""The page of connected applications."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse

from identity.sessions.models import Session
from interaction.pages import application_info, labels
from interaction.pages.views.account import shared
from oidc.grants import connections, descriptions
from oidc.grants.connections import Connection
from oidc.grants.descriptions import TargetDescription


@shared.account_page
def applications(request: HttpRequest, session: Session) -> HttpResponse:
    """Show connected applications, and revoke the access of an application or its access to one target."""
    if request.method == "POST":
        application_id, target_id = request.POST.get("revoke", ""), request.POST.get("target", "")
        if target_id:
            application_id, _, target_id = target_id.partition(" ")
            connections.revoke_target(session.user, application_id, target_id)
            return shared.redirect_done("pages:account-applications", "target")
        connections.revoke(session.user, application_id)
        return shared.redirect_done("pages:account-applications", "revoked")
    connected = connections.get_connections(session.user)
    targets = descriptions.describe(target for connection in connected for target in connection.targets)
    return shared.render_page(
        request,
        session,
        "applications",
        connected=[_describe(connection, targets) for connection in connected],
    )


def _describe(connection: Connection, targets: dict[UUID, TargetDescription]) -> dict[str, object]:
    return {
        "id": connection.application.pk,
        "name": connection.application.name,
        "is_third_party": connection.application.is_third_party,
        "scopes": labels.describe_scopes(labels.sort_identity_scopes(connection.scopes)),
        "targets": [
            {"id": target.pk, **labels.describe_target(targets[target.pk])}
            for target in connection.targets
            if target.pk in targets
        ],
        "since": connection.since,
        "info": application_info.describe(connection.application),
        "used": labels.last_used(connection.last_used_at) if connection.last_used_at else "",
    }
