"""Which language a person is spoken to in."""

from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils import translation

from identity.http.languages import best_of
from interaction.journeys.pending import Pending

PARAMETER: Final = "ui_locales"


def chosen_on(request: HttpRequest) -> str | None:
    """Return the language that the address of a page asks for."""
    try:
        return best_of(request.GET.get(PARAMETER, ""))
    except SuspiciousOperation:  # more parameters than anybody needs: the view says so in its own words
        return None


def of_browser(request: HttpRequest) -> str:
    """Return the language of a browser: that of the address, of the cookie, or of ``Accept-Language``."""
    # Django reads the cookie, then the header.
    return chosen_on(request) or translation.get_language_from_request(request)


def of_request(request: HttpRequest, pending: Pending | None) -> str:
    """Return the language of a journey: what the person chose, or the application asked for, goes first."""
    asked = best_of(pending.parked.language or pending.asked.ui_locales) if pending else None
    return chosen_on(request) or asked or of_browser(request)
