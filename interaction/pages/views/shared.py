"""What the pages have in common."""

from collections.abc import Callable
from functools import wraps
from urllib.parse import urlencode

from django.conf import settings
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.http import require_http_methods

from identity.core.errors import Invalid, ServiceError
from identity.http.responses import gone
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors import captcha
from interaction.connectors.providers import registry
from interaction.journeys import languages
from interaction.journeys import pending as waiting
from interaction.journeys.pending import Pending
from interaction.pages import language, refusals
from oidc.grants import requests

Step = Callable[[HttpRequest, Pending | None], HttpResponse]


def step(view: Step) -> Callable[[HttpRequest], HttpResponse]:
    """Make a view of a step of a journey: it is given the pending request, in whose language it goes on."""

    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        given = request.POST if request.method == "POST" else request.GET
        try:
            pending = waiting.find(request, given.get("interaction", ""))
        except waiting.Expired:
            return gone(request)
        if pending is not None:
            _speak(request, pending)
        return view(request, pending)

    return wrapped


def _speak(request: HttpRequest, pending: Pending) -> None:
    if chosen := languages.chosen_on(request):
        requests.note_language(pending.parked, chosen)
    translation.activate(languages.of_request(request, pending))


def captcha_token(request: HttpRequest) -> str:
    """Return what the widget of a CAPTCHA put into a form."""
    names = (f"{provider.widget.css_class}-response" for provider in registry.captchas())
    return next((request.POST[name] for name in names if request.POST.get(name)), "")


def page(
    request: HttpRequest, template: str, pending: Pending | None, status: int = 200, **shown: object
) -> HttpResponse:
    """Render a page that belongs to a pending request, and let its form lead to the application.

    ``asks_captcha`` shows the CAPTCHA that the tenant asks for, if it does.
    """
    asked = captcha.current() if shown.get("asks_captcha") else None
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
            "captcha": asked,
            "language_name": dict(settings.LANGUAGES)[translation.get_language() or settings.LANGUAGE_CODE],
            **shown,
        },
        status=status,
    )
    response["Cache-Control"] = "no-store"
    if chosen := languages.chosen_on(request):
        language.remember(response, chosen)
    response.form_targets = pending.form_targets if pending else ()  # type: ignore[attr-defined]
    if asked:
        response.widget_sources = asked.provider.widget.sources  # type: ignore[attr-defined]
    return response


def _languages(request: HttpRequest, interaction: str) -> list[dict[str, str]]:
    """Return links that show a page in other languages."""
    known = {"interaction": interaction} if interaction else {}
    return [
        {
            "tag": language.tag_of(code),
            "name": name,
            "href": f"{request.path}?{urlencode(known | {languages.PARAMETER: language.tag_of(code)})}",
        }
        for code, name in settings.LANGUAGES
    ]


def refused(response: HttpResponse, error: ServiceError) -> HttpResponse:
    """Give a page that tells of a refusal the headers that belong to it."""
    for name, value in error.headers.items():
        response[name] = value
    return response


def tell(form: Form, error: ServiceError, field: str | None = None) -> None:
    """Write beside the right field, or above all of them, why a form was refused."""
    named = error.field if isinstance(error, Invalid) else field
    for sentence in refusals.sentences(error):
        form.add_error(named if named in form.fields else None, sentence)


def address(name: str, pending: Pending | None, **query: str) -> str:
    """Return where a page is, for the same pending request."""
    known = ({"interaction": str(pending.parked.pk)} if pending else {}) | query
    return f"{reverse(name)}?{urlencode(known)}" if known else reverse(name)


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
