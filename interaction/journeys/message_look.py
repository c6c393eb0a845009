"""How a tenant's messages look and what they say in its own words."""

from django.conf import settings
from django.utils.translation import get_language

from interaction.experience import brand as colours
from interaction.experience import message_templates
from interaction.experience.models import SignInExperience
from interaction.verification.texts import Brand, Wording


def wording(shown: SignInExperience, purpose: str, channel: str) -> Wording | None:
    """Return the tenant's own words for a message in the active language, if it has any."""
    template = message_templates.find(
        shown.message_templates,
        purpose=purpose,
        channel=channel,
        language=get_language() or settings.LANGUAGE_CODE,
    )
    if template is None:
        return None
    return Wording(subject=template["subject"], text=template["text"], html=template["html"])


def brand(shown: SignInExperience) -> Brand:
    """Return the tenant's name and look."""
    colour = shown.branding["primary_color"]
    return Brand(
        name=shown.tenant.name,
        colour=colour,
        on_colour=colours.text_on(colour) if colour else "",
        logo_url=shown.branding["logo_url"],
    )
