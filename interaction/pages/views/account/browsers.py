"""The page of the browsers in which the user is signed in."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from identity.http import browser_names
from identity.sessions import services as sessions
from identity.sessions.models import Session
from interaction.pages import labels
from interaction.pages.views.account import shared

_MAX_SHOWN: Final = 30


@shared.account_page
def browsers(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the user's sessions, and end one of them or all others."""
    if request.method == "POST":
        if request.POST.get("end") == "others":
            sessions.end_others(session)
        else:
            sessions.end_by_id(session.user, request.POST.get("end", ""))
        return shared.redirect_done("pages:account-browsers", "ended")
    others = Session.objects.live().filter(user=session.user_id).exclude(pk=session.pk)
    latest = others.order_by("-last_used_at", "-pk")[:_MAX_SHOWN]
    return shared.render_page(
        request,
        session,
        "browsers",
        here=_describe(session),
        others=[_describe(other) for other in latest],
        hidden=max(0, others.count() - _MAX_SHOWN),
    )


def _describe(session: Session) -> dict[str, object]:
    return {
        "id": session.pk,
        "name": browser_names.describe(session.user_agent),
        "ip": session.ip,
        "signed_in_at": session.known_auth_time,
        "used": labels.last_used(session.last_used_at),
    }
