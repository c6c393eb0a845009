"""Template variables of every page: brand, language, request id, and how long a confirmation counts."""

from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.utils import translation
from django.utils.functional import SimpleLazyObject

from audit import context
from identity.core import durations, tenancy
from interaction.experience import page_texts
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience, default_branding
from interaction.journeys.page_branding import get_branding
from interaction.journeys.pending import Pending
from interaction.pages import language as languages

COLOURS: Final = ("primary_color", "dark_primary_color")


def page(request: HttpRequest) -> dict[str, object]:
    """Return the template variables. Error pages need them without a tenant or a database too."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return {
        "brand": SimpleLazyObject(partial(_brand, request)),
        "lang": languages.get_tag(language),
        "dir": "rtl" if translation.get_language_bidi() else "ltr",
        "request_id": context.current().request_id,
        "confirm_time": durations.CONFIRM_TIME,
    }


def get_experience(request: HttpRequest) -> SignInExperience:
    """Return the experience of a page: the tenant's, read once, or the unsaved draft of a preview."""
    experience: SignInExperience | None = getattr(request, "experience", None)
    if experience is None:
        experience = request.experience = experiences.current()  # type: ignore[attr-defined]
    return experience


def set_draft(request: HttpRequest, draft: SignInExperience) -> None:
    """Let the page be a preview with this experience, which is not saved."""
    request.experience, request.is_preview = draft, True  # type: ignore[attr-defined]


def _brand(request: HttpRequest) -> dict[str, Any]:
    default: dict[str, Any] = {
        "name": "Gatehouse",
        "terms_of_use_url": "",
        "privacy_policy_url": "",
        "texts": {},
    } | default_branding()
    try:
        experience = get_experience(request)
    except (tenancy.NoActiveTenant, DatabaseError, OSError, SignInExperience.DoesNotExist):
        # An OSError: the process has no file descriptor for a connection.
        return default
    return default | get_brand(request, experience, getattr(request, "pending", None))


def get_brand(request: HttpRequest, experience: SignInExperience, pending: Pending | None) -> dict[str, Any]:
    """Return the tenant's name and links, and the branding and the texts of a page.

    ``query`` is that of the brand's stylesheet, with the colours if they are not the tenant's saved ones.
    """
    branding = get_branding(experience, pending)
    colours = {name: branding[name] for name in COLOURS}
    is_saved = not hasattr(request, "is_preview") and colours.items() <= experience.branding.items()
    return {
        "name": experience.tenant.name,
        "terms_of_use_url": experience.terms_of_use_url,
        "privacy_policy_url": experience.privacy_policy_url,
        "query": "" if is_saved else urlencode(colours),
        "texts": page_texts.select(
            experience.page_texts, translation.get_language() or settings.LANGUAGE_CODE
        ),
        **branding,
    }
