"""Where the person is signed in."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from identity.sessions import services as sessions
from identity.sessions.models import Session
from interaction.pages import browsers as names
from interaction.pages import words
from interaction.pages.views.account import shared

_MOST: Final = 30


@shared.account_page
def browsers(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the browsers in which the person is signed in, and end those that they name."""
    if request.method == "POST":
        if request.POST.get("end") == "others":
            sessions.end_others(session)
        else:
            sessions.end_by_id(session.user, request.POST.get("end", ""))
        return shared.done("pages:account-browsers", "ended")
    others = Session.objects.live().filter(user=session.user_id).exclude(pk=session.pk)
    shown = others.order_by("-last_used_at", "-pk")[:_MOST]
    return shared.page(
        request,
        session,
        "browsers",
        here=_described(session),
        others=[_described(other) for other in shown],
        hidden=max(0, others.count() - _MOST),
    )


def _described(session: Session) -> dict[str, object]:
    return {
        "id": session.pk,
        "name": names.described(session.user_agent),
        "ip": session.ip,
        "signed_in_at": session.known_auth_time,
        "used": words.used(session.last_used_at),
    }
