"""What the pages have in common."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys import pending as waiting
from interaction.journeys.pending import Pending


def found(request: HttpRequest) -> Pending | None:
    given = request.POST if request.method == "POST" else request.GET
    return waiting.find(request, given.get("interaction", ""))


def page(
    request: HttpRequest, template: str, pending: Pending | None, status: int = 200, **shown: object
) -> HttpResponse:
    """Render a page that belongs to a pending request, and let its form lead to the application."""
    application = pending and {
        "name": pending.application.name,
        "site": pending.site,
        "is_third_party": pending.application.is_third_party,
    }
    response = render(
        request,
        f"interaction/{template}.html",
        {"application": application, "interaction": pending.parked.pk if pending else "", **shown},
        status=status,
    )
    response["Cache-Control"] = "no-store"
    response.form_targets = pending.form_targets if pending else ()  # type: ignore[attr-defined]
    return response


def person(user: User) -> dict[str, str]:
    return {
        "name": user.name,
        "username": user.username,
        "email": user.email,
        "phone": user.phone,
        "identifier": user.identifier,
        "initial": user.display_name[:1].upper(),
    }


def choice(request: HttpRequest, session: Session | None) -> str:
    """Return the button that was pressed, if it was on a page of this very session.

    Somebody else may have signed in in another tab since: they are shown a page of their own.
    """
    shown = session is not None and request.POST.get("session") == str(session.pk)
    return request.POST.get("choice", "") if shown else ""
