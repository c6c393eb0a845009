"""The branding and the templates of a tenant's messages."""

from django.conf import settings
from django.utils.translation import get_language

from interaction.experience import brand as colours
from interaction.experience import message_templates, pictures
from interaction.experience.models import SignInExperience
from interaction.verification.texts import Brand, MessageTemplate


def find_template(experience: SignInExperience, purpose: str, channel: str) -> MessageTemplate | None:
    """Return the tenant's template for a message in the active language, if it has one."""
    template = message_templates.find(
        experience.message_templates,
        purpose=purpose,
        channel=channel,
        language=get_language() or settings.LANGUAGE_CODE,
    )
    if template is None:
        return None
    return MessageTemplate(subject=template["subject"], text=template["text"], html=template["html"])


def get_brand(experience: SignInExperience) -> Brand:
    """Return the tenant's name and branding."""
    colour = experience.branding["primary_color"]
    return Brand(
        name=experience.tenant.name,
        colour=colour,
        on_colour=colours.get_text_colour(colour) if colour else "",
        logo_url=pictures.add_address(experience.branding["logo_url"]),
    )
