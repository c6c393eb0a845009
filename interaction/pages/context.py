"""What every page shows of its tenant."""

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


def page(request: HttpRequest) -> dict[str, object]:
    """Return brand, language and correlation id. Works without a tenant or a database too."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    return {
        "brand": SimpleLazyObject(_brand),
        "lang": languages.tag_of(language),
        "dir": "rtl" if translation.get_language_bidi() else "ltr",
        "request_id": context.current().request_id,
    }


def _brand() -> dict[str, str]:
    plain = {"name": "Gatehouse", "terms_of_use_url": "", "privacy_policy_url": ""} | default_branding()
    try:
        shown = experience.current()
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
