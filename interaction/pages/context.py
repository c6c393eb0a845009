"""Template variables of every page: brand, language and request id."""

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
from interaction.experience import pictures
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience, default_branding
from interaction.pages import language as languages

COLOURS: Final = ("primary_color", "dark_primary_color")


def page(request: HttpRequest) -> dict[str, object]:
    """Return the template variables. Error pages need them without a tenant or a database too."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return {
        "brand": SimpleLazyObject(partial(_brand, request)),
        "brand_query": _brand_query(request),
        "lang": languages.get_tag(language),
        "dir": "rtl" if translation.get_language_bidi() else "ltr",
        "request_id": context.current().request_id,
    }


def get_experience(request: HttpRequest) -> SignInExperience:
    """Return the experience of a page: the tenant's, or the unsaved ``request.draft`` of a preview."""
    draft: SignInExperience | None = getattr(request, "draft", None)
    return experiences.current() if draft is None else draft


def _brand_query(request: HttpRequest) -> str:
    """Return the query of the brand's stylesheet: the colours of a preview; empty for other pages."""
    if not hasattr(request, "draft"):
        return ""
    colours = request.draft.branding
    return urlencode({name: colours[name] for name in COLOURS})


def _brand(request: HttpRequest) -> dict[str, str]:
    default = {"name": "Gatehouse", "terms_of_use_url": "", "privacy_policy_url": ""} | default_branding()
    try:
        experience = get_experience(request)
    except (tenancy.NoActiveTenant, DatabaseError, SignInExperience.DoesNotExist):
        return default
    return default | get_brand(experience)


def get_brand(experience: SignInExperience) -> dict[str, str]:
    """Return the name, the links and the branding of a tenant."""
    return {
        "name": experience.tenant.name,
        "terms_of_use_url": experience.terms_of_use_url,
        "privacy_policy_url": experience.privacy_policy_url,
        **pictures.add_addresses(experience.branding),
    }
