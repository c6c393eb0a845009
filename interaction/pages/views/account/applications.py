"""The applications that the person let in."""

from django.http import HttpRequest, HttpResponse

from identity.organizations.models import Organization
from identity.sessions.models import Session
from interaction.pages import words
from interaction.pages.views.account import shared
from oidc.grants import connections
from oidc.grants.connections import Connection


@shared.account_page
def applications(request: HttpRequest, session: Session) -> HttpResponse:
    """Show what applications may do, and take it back from the one that is named."""
    if request.method == "POST":
        connections.revoke(session.user, request.POST.get("revoke", ""))
        return shared.done("pages:account-applications", "revoked")
    connected = connections.of(session.user)
    ids = {pk for connection in connected for pk in connection.organizations}
    names = {str(pk): name for pk, name in Organization.objects.filter(pk__in=ids).values_list("pk", "name")}
    return shared.page(
        request,
        session,
        "applications",
        connected=[_described(connection, names) for connection in connected],
    )


def _described(connection: Connection, organizations: dict[str, str]) -> dict[str, object]:
    return {
        "id": connection.application.pk,
        "name": connection.application.name,
        "is_third_party": connection.application.is_third_party,
        "scopes": words.described(words.in_order(connection.scopes)),
        "organizations": sorted(organizations[pk] for pk in connection.organizations if pk in organizations),
        "since": connection.since,
        "used": words.used(connection.last_used_at) if connection.last_used_at else "",
    }
