"""What the pages have in common."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import translation

from identity.sessions.models import Session
from identity.users.models import User
from interaction.journeys import pending as waiting
from interaction.journeys.pending import Pending
from interaction.pages import language
from oidc.grants import requests


def found(request: HttpRequest) -> Pending | None:
    """Return the pending request that a page belongs to, and go on in its language.

    Raises:
        waiting.Expired: the page names one that this browser has not.

    """
    given = request.POST if request.method == "POST" else request.GET
    pending = waiting.find(request, given.get("interaction", ""))
    if pending is None:
        return None
    if chosen := language.chosen_on(request):
        requests.note_language(pending.parked, chosen)
    else:
        language.speak(pending.parked.language or pending.asked.ui_locales)
    return pending


def page(
    request: HttpRequest, template: str, pending: Pending | None, status: int = 200, **shown: object
) -> HttpResponse:
    """Render a page that belongs to a pending request, and let its form lead to the application."""
    application = pending and {
        "name": pending.application.name,
        "site": pending.site,
        "is_third_party": pending.application.is_third_party,
    }
    interaction = str(pending.parked.pk) if pending else ""
    response = render(
        request,
        f"interaction/{template}.html",
        {
            "application": application,
            "interaction": interaction,
            "languages": _languages(request, interaction),
            "language_name": dict(settings.LANGUAGES)[translation.get_language() or settings.LANGUAGE_CODE],
            **shown,
        },
        status=status,
    )
    response["Cache-Control"] = "no-store"
    if chosen := language.chosen_on(request):
        language.remember(response, chosen)
    response.form_targets = pending.form_targets if pending else ()  # type: ignore[attr-defined]
    return response


def _languages(request: HttpRequest, interaction: str) -> list[dict[str, str]]:
    """Return links that show a page in other languages."""
    known = {"interaction": interaction} if interaction else {}
    return [
        {
            "tag": language.tag_of(code),
            "name": name,
            "href": f"{request.path}?{urlencode(known | {language.PARAMETER: language.tag_of(code)})}",
        }
        for code, name in settings.LANGUAGES
    ]


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
