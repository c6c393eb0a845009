"""What every page shows of its tenant."""

from functools import partial
from typing import Final
from urllib.parse import urlencode

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import translation
from django.utils.functional import SimpleLazyObject

from audit import context
from identity.core import tenancy
from interaction.experience import services as experience
from interaction.experience.models import SignInExperience, default_branding
from interaction.pages import language as languages

COLOURS: Final = ("primary_color", "dark_primary_color")


def page(request: HttpRequest) -> dict[str, object]:
    """Return brand, language and correlation id. Works without a tenant or a database too."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return {
        "brand": SimpleLazyObject(partial(_brand, request)),
        "brand_query": _colours_of_a_draft(request),
        "lang": languages.tag_of(language),
        "dir": "rtl" if translation.get_language_bidi() else "ltr",
        "request_id": context.current().request_id,
    }


def shown_on(request: HttpRequest) -> SignInExperience:
    """Return the experience of a page: the tenant's, or with ``request.draft`` one that is not saved."""
    draft: SignInExperience | None = getattr(request, "draft", None)
    return experience.current() if draft is None else draft


def _colours_of_a_draft(request: HttpRequest) -> str:
    """Return what the stylesheet of the brand is asked for, where it shall not be the tenant's own."""
    if not hasattr(request, "draft"):
        return ""
    colours = request.draft.branding
    return urlencode({name: colours[name] for name in COLOURS})


def _brand(request: HttpRequest) -> dict[str, str]:
    plain = {"name": "Gatehouse", "terms_of_use_url": "", "privacy_policy_url": ""} | default_branding()
    try:
        shown = shown_on(request)
    except (tenancy.NoActiveTenant, DatabaseError, SignInExperience.DoesNotExist):
        return plain
    return plain | brand_of(shown)


def brand_of(shown: SignInExperience) -> dict[str, str]:
    """Return what pages show of a tenant."""
    return {
        "name": shown.tenant.name,
        "terms_of_use_url": shown.terms_of_use_url,
        "privacy_policy_url": shown.privacy_policy_url,
        **shown.branding,
    }
