"""The page for the language of the pages."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from identity.sessions.models import Session
from interaction.journeys.account import language as journey
from interaction.pages import language as languages
from interaction.pages.views.account import shared


@shared.account_page
def language(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for a language, and keep it in this browser and in the user's profile."""
    chosen = request.POST.get("language", "")
    if chosen in dict(settings.LANGUAGES):
        journey.choose(session.user, language=chosen, tag=languages.get_tag(chosen))
        response = shared.redirect_done("pages:account", "language")
        languages.remember(response, chosen)
        return response
    return shared.render_page(
        request,
        session,
        "language",
        choices=[
            {"code": code, "tag": languages.get_tag(code), "name": name} for code, name in settings.LANGUAGES
        ],
        current=translation.get_language(),
    )
