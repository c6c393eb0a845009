"""The language of pages and messages."""

import re
from typing import Final

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest
from django.utils import translation

from identity.http.languages import find_supported
from identity.users.models import User
from interaction.journeys.pending import Pending

PARAMETER: Final = "ui_locales"
# Matches a query that may have the parameter. The long query of an authorization request is not decoded.
_MAY_BE_REQUESTED: Final = re.compile(rf"(?:^|&)(?:{PARAMETER}|[^=&]*%)")


def get_chosen(request: HttpRequest) -> str | None:
    """Return the language that the URL of a page requests, if any."""
    if not _MAY_BE_REQUESTED.search(request.META.get("QUERY_STRING", "")):
        return None
    try:
        return find_supported(request.GET.get(PARAMETER, ""))
    except SuspiciousOperation:  # too many parameters: the view refuses them
        return None


def get_browser_language(request: HttpRequest) -> str:
    """Return the language of a browser: from the URL, the cookie, or ``Accept-Language``."""
    # Django reads the cookie, then the header.
    return get_chosen(request) or translation.get_language_from_request(request)


def get_journey_language(request: HttpRequest, pending: Pending | None) -> str:
    """Return the language of a journey: the user's choice, the application's request, or the browser's."""
    requested = find_supported(pending.row.language or pending.authorization.ui_locales) if pending else None
    return get_chosen(request) or requested or get_browser_language(request)


def find_own(user: User) -> str | None:
    """Return the supported language of the user's profile, if there is one."""
    return find_supported(str(user.profile.get("locale", "")))
